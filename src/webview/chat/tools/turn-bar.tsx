import type { TurnSummary } from '../../../chat/message-parts.ts';
import { Icon } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import { usePanel } from '../panel.ts';
import { Counts } from './tool-details.tsx';

/** The files that an answer changed, in one line, with their review and the way back. */
export function TurnBar({ message }: { message: string }) {
  const { link, state } = usePanel();
  const turn = state.turns.value.find((each) => each.message === message);
  if (!turn || turn.files === 0) return null;
  const act = (action: 'review' | 'keep' | 'undo' | 'redo') => () => link.post({ type: 'turn', action, message });
  const keep = () => {
    act('keep')();
    // The button disappears.
    state.focusWanted.value += 1;
  };
  const busy = state.running.value;
  const undone = turn.state === 'undone';
  return (
    <fieldset class="turn-bar" aria-label={t('Changed files')}>
      <Icon name="diff-multiple" />
      <span class="count">
        {filesText(turn)} {undone ? null : <Counts added={turn.added} removed={turn.removed} />}
      </span>
      <span class="actions">
        {undone ? null : (
          <button type="button" key="review" onClick={act('review')}>
            {t('Review')}
          </button>
        )}
        {/* One button, so that it keeps the focus. */}
        <button type="button" key="undo" disabled={busy} onClick={act(undone ? 'redo' : 'undo')}>
          {undone ? t('Redo') : t('Undo all')}
        </button>
        {turn.state === 'pending' ? (
          <button type="button" key="keep" class="primary" disabled={busy} onClick={keep}>
            {t('Keep')}
          </button>
        ) : null}
      </span>
    </fieldset>
  );
}

function filesText({ files, state }: TurnSummary): string {
  if (state === 'undone') return files === 1 ? t('1 file: changes undone') : t('{0} files: changes undone', files);
  return files === 1 ? t('1 file changed') : t('{0} files changed', files);
}

/** Takes back the changes of one call, or makes them again. */
export function UndoCall({ call }: { call: string }) {
  const { link, state } = usePanel();
  const turn = state.turns.value.find(({ calls }) => calls.includes(call));
  if (!turn) return null;
  const undone = turn.undone.includes(call);
  const act = () => link.post({ type: 'turn', action: undone ? 'redo' : 'undo', message: turn.message, call });
  return (
    <button type="button" disabled={state.running.value} onClick={act}>
      {undone ? t('Redo this change') : t('Undo this change')}
    </button>
  );
}
