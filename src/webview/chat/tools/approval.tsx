import { defined } from '../../../base/json.ts';
import { t } from '../../shared/words.ts';
import { isSubmit } from '../composing.ts';
import { usePanel } from '../panel.ts';
import { reasonOf } from './call-texts.ts';
import { cautionText } from './caution-text.ts';
import { DiffView } from './diff-view.tsx';
import { ruleText } from './rule-text.ts';
import type { ToolPart } from './tool-title.ts';

interface Props {
  readonly part: ToolPart;
  /** The command as the user edited it. */
  readonly command: string | undefined;
}

/** The buttons of a call that waits for a decision. */
export function Approval({ part, command }: Props) {
  const { link } = usePanel();
  const caution = part.state.type === 'waiting' ? part.state.caution : undefined;
  const redefined = part.state.type === 'waiting' ? part.state.redefined : undefined;
  // An edited command is not the one that they are about.
  const rules = part.state.type === 'waiting' && command === undefined ? part.state.rules : undefined;
  const allow = (type: 'once' | 'session' | 'always') => (event: MouseEvent) => {
    // The second click of a double click may hit the next card, which has moved under the pointer.
    if (event.detail > 1) return;
    link.post({ type: 'decide', call: part.id, decision: { type, ...defined({ command }) } });
  };
  return (
    <fieldset class="approval" aria-label={t('Allow {0}?', part.name)}>
      {caution ? <p class="caution">{cautionText(caution)}</p> : null}
      {redefined ? (
        <>
          <p class="caution">{t('This tool has changed since you allowed it. Its extension or server now says:')}</p>
          {redefined.change ? (
            <DiffView change={redefined.change} />
          ) : (
            <p class="note">{t('The earlier text was not kept.')}</p>
          )}
        </>
      ) : null}
      <div class="actions">
        <button
          type="button"
          class="primary"
          title={t('Allow once (Ctrl+Enter)')}
          aria-keyshortcuts="Control+Enter Meta+Enter"
          onKeyDown={(event) => event.repeat && event.preventDefault()}
          onClick={allow('once')}
        >
          {t('Allow once')}
        </button>
        {rules ? (
          <>
            <button type="button" onClick={allow('session')}>
              {t('Allow in this conversation')}
            </button>
            <button type="button" title={t('In this workspace')} onClick={allow('always')}>
              {t('Always allow')}
            </button>
          </>
        ) : null}
        {canView(part) ? (
          <button type="button" onClick={() => link.post({ type: 'preview', call: part.id })}>
            {t('View diff')}
          </button>
        ) : null}
      </div>
      {rules ? <p class="rules">{t('Lasting permissions cover: {0}', rules.map(ruleText).join(', '))}</p> : null}
      <Denial call={part.id} />
    </fieldset>
  );
}

function Denial({ call }: { call: string }) {
  const { link, typed } = usePanel();
  const reason = typed.get(reasonOf(call)) ?? '';
  const deny = () => link.post({ type: 'decide', call, decision: { type: 'deny', reason } });
  return (
    <div class="actions deny">
      <input
        type="text"
        value={reason}
        placeholder={t('Reason (sent to the model)')}
        aria-label={t('Reason for denying')}
        onInput={(event) => typed.set(reasonOf(call), event.currentTarget.value)}
        onKeyDown={(event) => isSubmit(event) && !event.ctrlKey && !event.metaKey && deny()}
      />
      <button type="button" onClick={deny}>
        {t('Deny')}
      </button>
    </div>
  );
}

/** A file that only moves, and a file that is no text, have no diff. */
function canView({ action }: ToolPart): boolean {
  return action?.type === 'changes' && action.changes.some(({ hunks }) => hunks.length > 0);
}
