import { showUnseen } from '../../../chat/tools/visible-text.ts';
import { t } from '../../shared/words.ts';
import { usePanel } from '../panel.ts';

/** The name of a file, which opens it. Its folder is in the tooltip, because a card is narrow. */
export function FileLink({ path, line }: { path: string; line?: number | undefined }) {
  const { link } = usePanel();
  const shown = showUnseen(path);
  // Without a folder, a name such as `Makefile` does not look like a path.
  const file = path.includes('/') ? path : `./${path}`;
  const place = line === undefined ? file : `${file}:${line}`;
  return (
    <button
      type="button"
      class="file"
      title={t('Open {0}', shown)}
      aria-label={t('Open {0}', shown)}
      onClick={() => link.post({ type: 'open-path', path: place })}
    >
      {shown.split('/').at(-1) || shown}
    </button>
  );
}
