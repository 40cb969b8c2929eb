import type { FileChange } from '../../../chat/message-parts.ts';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import type { ToolState } from '../../../chat/transcript.ts';
import { t } from '../../shared/words.ts';
import { DiffView } from './diff-view.tsx';
import { FileLink } from './file-link.tsx';
import { Folded } from './folded.tsx';
import { TaskList } from './task-list.tsx';
import { readObject, type ToolPart } from './tool-title.ts';

/** The effect of a call, as far as its title does not have it. */
export function Effect({ part }: { part: ToolPart }) {
  const { action } = part;
  switch (action?.type) {
    case 'changes':
      return <Changes changes={action.changes} />;
    case 'command':
      return <Folded text={action.command} />;
    case 'fetch':
      return <Folded text={action.url} />;
    case 'tasks':
      return <TaskList tasks={action.tasks} />;
    case 'question':
      return <p class="plain">{showUnseen(action.question)}</p>;
    case undefined:
      return <Arguments text={part.text} />;
  }
}

function Changes({ changes }: { changes: readonly FileChange[] }) {
  return (
    <>
      {changes.map((change, index) => (
        <div class="change" key={`${index} ${change.path}`}>
          {changes.length > 1 ? <ChangeTitle change={change} /> : null}
          <DiffView change={change} />
        </div>
      ))}
    </>
  );
}

function ChangeTitle({ change: { kind, path, newPath, added, removed, hunks } }: { change: FileChange }) {
  const verb = { edit: t('Edit'), create: t('Create'), delete: t('Delete'), rename: t('Rename') }[kind];
  return (
    <p class="change-title">
      <span>{verb}</span>
      <FileLink path={path} line={hunks[0]?.newStart} />
      {newPath === undefined ? <Counts added={added} removed={removed} /> : <span>→ {showUnseen(newPath)}</span>}
    </p>
  );
}

export function Counts({ added, removed }: { added: number; removed: number }) {
  if (added === 0 && removed === 0) return null;
  return (
    <span class="counts">
      {added > 0 ? <span class="added">+{added}</span> : null}
      {removed > 0 ? <span class="removed">−{removed}</span> : null}
    </span>
  );
}

/** Shows each argument with its name. Line breaks are kept, so that a text is readable. */
function Arguments({ text }: { text: string }) {
  const value = readObject(text);
  if (value === undefined) return text === '' ? null : <Folded text={text} />;
  return (
    <>
      {Object.entries(value).map(([name, argument]) => (
        <div class="argument" key={name}>
          <code>{showUnseen(name)}</code>
          <Folded text={typeof argument === 'string' ? argument : JSON.stringify(argument, null, 2)} />
        </div>
      ))}
    </>
  );
}

/** The result of a call, or the reason of a denial. */
export function Output({ state }: { state: ToolState }) {
  if (state.type === 'denied' && state.rule !== undefined) {
    return <p class="plain">{t('Denied by the rule {0}', showUnseen(state.rule))}</p>;
  }
  if (state.type === 'denied' && state.reason !== '') {
    return (
      <p class="plain">
        {t('Reason')}: {state.reason}
      </p>
    );
  }
  if (state.type !== 'done' || state.output === '') return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: must be scrollable with the keyboard
    <pre tabIndex={0} class="output">
      {showUnseen(state.output.replaceAll('\r\n', '\n'))}
    </pre>
  );
}
