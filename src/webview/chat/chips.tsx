import { type Attachment, type AttachmentKind, attachedPath } from '../../chat/attachment.ts';
import { showUnseen } from '../../chat/tools/visible-text.ts';
import { Icon } from '../shared/icon.tsx';
import { t } from '../shared/words.ts';
import { tokensText } from './figures.ts';
import { usePanel } from './panel.ts';

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
  editor: 'go-to-file',
};

export function Chips(props: { attachments: readonly Attachment[]; remove?: (id: string) => void }) {
  const { attachments, remove } = props;
  return (
    <ul class="chips" aria-label={t('Attachments')}>
      {attachments.map((each) => (
        <li key={each.id} class="chip" title={showUnseen(each.detail ?? each.label)}>
          {each.preview ? <img src={each.preview} alt="" /> : <Icon name={ICONS[each.kind]} />}
          <span class="name">{showUnseen(each.label)}</span>
          <span class="figures">{t('{0} tokens', tokensText(each.tokens))}</span>
          <Hidden count={each.hidden} />
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

/** Characters of the source that no one sees. The model gets a mark in place of each. */
function Hidden({ count }: { count: number | undefined }) {
  if (count === undefined) return null;
  const text = count === 1 ? t('1 invisible character is marked') : t('{0} invisible characters are marked', count);
  return (
    <span class="hidden-text" title={text} role="img" aria-label={text}>
      <Icon name="warning" />
    </span>
  );
}

/** Chips that are sent with each message. A press switches one off or on. An open file that is attached is sent once. */
export function ContextChips() {
  const { link, state } = usePanel();
  const attached = new Set(state.attachments.value.map(attachedPath));
  const chips = state.contextChips.value.filter((chip) => chip.kind !== 'editor' || !attached.has(attachedPath(chip)));
  if (chips.length === 0) return null;
  return (
    <ul class="chips context" aria-label={t('Sent with each message')}>
      {chips.map(({ id, kind, label, detail, tokens, hidden, on }) => (
        <li key={id}>
          <button
            type="button"
            class={on ? 'chip' : 'chip off'}
            aria-pressed={on}
            title={
              on
                ? t('{0} – press to leave it out', detail ?? label)
                : t('{0} is left out – press to send it', detail ?? label)
            }
            onClick={() => link.post({ type: 'toggle-context', chip: id })}
          >
            <Icon name={kind === 'editor' ? 'go-to-file' : 'book'} />
            <span class="name">{showUnseen(label)}</span>
            <span class="figures">{t('{0} tokens', tokensText(tokens))}</span>
            <Hidden count={hidden} />
            <Icon name={on ? 'close' : 'add'} />
          </button>
        </li>
      ))}
    </ul>
  );
}
