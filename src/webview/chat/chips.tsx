import type { Attachment, AttachmentKind } from '../../chat/attachment.ts';
import { Icon } from '../shared/icon.tsx';
import { t } from '../shared/words.ts';
import { tokensText } from './figures.ts';

const ICONS: Readonly<Record<AttachmentKind, string>> = {
  selection: 'list-selection',
  file: 'file',
  folder: 'folder',
  symbol: 'symbol-method',
  problems: 'warning',
  terminal: 'terminal',
  diff: 'git-compare',
  image: 'file-media',
  pdf: 'file-pdf',
  prompt: 'note',
};

export function Chips(props: { attachments: readonly Attachment[]; remove?: (id: string) => void }) {
  const { attachments, remove } = props;
  return (
    <ul class="chips" aria-label={t('Attachments')}>
      {attachments.map((each) => (
        <li key={each.id} class="chip" title={each.detail ?? each.label}>
          {each.preview ? <img src={each.preview} alt="" /> : <Icon name={ICONS[each.kind]} />}
          <span class="name">{each.label}</span>
          <span class="figures">{t('{0} tokens', tokensText(each.tokens))}</span>
          {remove ? (
            <button
              type="button"
              class="icon"
              aria-label={t('Remove {0}', each.label)}
              title={t('Remove')}
              onClick={() => remove(each.id)}
              onKeyDown={(event) => (event.key === 'Delete' || event.key === 'Backspace') && remove(each.id)}
            >
              <Icon name="close" />
            </button>
          ) : null}
        </li>
      ))}
    </ul>
  );
}
