import type { TurnSummary } from '../../../chat/message-parts.ts';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import { Icon } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import { usePanel } from '../panel.ts';
import { Counts } from './tool-details.tsx';

/** The files that an answer changed, with their review and the way back. */
export function TurnBar({ message }: { message: string }) {
  const { link, state } = usePanel();
  const turn = state.turns.value.find((each) => each.message === message);
  if (!turn || turn.files.length === 0) return null;
  const act = (action: 'review' | 'keep' | 'undo' | 'redo') => () => link.post({ type: 'turn', action, message });
  const keep = () => {
    act('keep')();
    // The button disappears.
    state.focusWanted.value += 1;
  };
  const busy = state.running.value;
  const undone = turn.state === 'undone';
  const sum = (of: 'added' | 'removed') => turn.files.reduce((total, file) => total + file[of], 0);
  const review = (path: string) => () => link.post({ type: 'turn', action: 'review', message, path });
  return (
    <fieldset class="turn-bar" aria-label={t('Changed files')}>
      <Icon name="diff-multiple" />
      <span class="count">
        {filesText(turn)} {undone ? null : <Counts added={sum('added')} removed={sum('removed')} />}
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
      {undone ? null : (
        <ul>
          {turn.files.map((file) => (
            <li key={file.path}>
              <button
                type="button"
                class="file"
                title={t('Review {0}', showUnseen(file.path))}
                onClick={review(file.path)}
              >
                <FileName path={file.path} />
                <Counts added={file.added} removed={file.removed} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </fieldset>
  );
}

/** The name first: in a narrow panel, the folder is cut. */
function FileName({ path }: { path: string }) {
  const slash = path.lastIndexOf('/');
  return (
    <>
      <span class="file-name">{showUnseen(path.slice(slash + 1))}</span>
      <span class="folder">{showUnseen(path.slice(0, Math.max(0, slash)))}</span>
    </>
  );
}

function filesText({ files: { length: files }, state }: TurnSummary): string {
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
