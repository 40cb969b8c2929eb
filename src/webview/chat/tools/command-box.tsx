import { useState } from 'preact/hooks';
import { foldText, showUnseen } from '../../../chat/tools/visible-text.ts';
import { t } from '../../shared/words.ts';
import { Folded } from './folded.tsx';

/** Longer commands are folded until the user edits them. */
const ROWS = 20;
const WIDTH = 60;

interface Props {
  /** The command as the model wrote it. */
  readonly command: string;
  readonly edited: string | undefined;
  readonly edit: (command: string) => void;
}

/**
 * A command that waits for approval. It can be edited, unless it has invisible characters: an input would hide them.
 */
export function CommandBox({ command, edited, edit }: Props) {
  const [editing, setEditing] = useState(edited !== undefined);
  const visible = showUnseen(command) === command;
  const short = foldText(command, ROWS, WIDTH).rest === undefined;
  if (visible && (short || editing)) {
    return (
      <textarea
        class="command"
        aria-label={t('Command')}
        spellcheck={false}
        rows={1}
        value={edited ?? command}
        onInput={(event) => edit(event.currentTarget.value)}
      />
    );
  }
  return (
    <>
      <Folded text={command} />
      {visible ? (
        <button type="button" onClick={() => setEditing(true)}>
          {t('Edit command')}
        </button>
      ) : null}
    </>
  );
}
