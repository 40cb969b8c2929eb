import { useState } from 'preact/hooks';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import type { ToolState } from '../../../chat/transcript.ts';
import { Icon } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import { secondsText } from '../figures.ts';
import { usePanel } from '../panel.ts';
import { Approval } from './approval.tsx';
import { editedCommand } from './call-texts.ts';
import { CommandBox } from './command-box.tsx';
import { FileLink } from './file-link.tsx';
import { Question } from './question.tsx';
import { Counts, Effect, Output } from './tool-details.tsx';
import { OWN, type ToolPart, toolTitle } from './tool-title.ts';
import { UndoCall } from './turn-bar.tsx';

/** A tool call: its effect, its state and, if it waits, the decision. */
export function ToolCard({ part }: { part: ToolPart }) {
  const [open, setOpen] = useState(false);
  if (part.state.type === 'waiting') return <WaitingCard part={part} />;
  // A list of tasks is its own result, and it is visible at once.
  const tasks = part.action?.type === 'tasks' && part.state.type !== 'denied';
  const { verb = showUnseen(part.name), file, gist } = toolTitle(part);
  const label = [verb, file?.path ?? gist].filter(Boolean).join(' ');
  return (
    <div class={open ? 'tool open' : 'tool'}>
      <div class="head">
        <button type="button" class="toggle" aria-expanded={open} aria-label={label} onClick={() => setOpen(!open)}>
          <StateIcon state={part.state} />
          <Name part={part} />
        </button>
        <Subject part={part} />
        <span class={isTime(part.state) ? 'figures time' : 'figures'}>{stateText(part)}</span>
      </div>
      {open || tasks ? (
        <div class="details">
          <Origin part={part} />
          <Effect part={part} />
          {tasks ? null : <Output state={part.state} />}
          {part.action?.type === 'changes' ? <UndoCall call={part.id} /> : null}
        </div>
      ) : null}
    </div>
  );
}

function WaitingCard({ part }: { part: ToolPart }) {
  const { file, gist = '' } = toolTitle(part);
  const subject = file?.path ?? gist;
  const label = subject === '' ? t('Tool {0}', part.name) : t('Tool {0}, {1}', part.name, subject);
  return (
    // Gets the focus when it begins to wait, see `waiting-calls.tsx`.
    <section class="tool asking" aria-label={label} tabIndex={-1}>
      <div class="head">
        <StateIcon state={part.state} />
        <Name part={part} />
        <Subject part={part} />
        <span class="figures">{stateText(part)}</span>
      </div>
      <Decision part={part} />
    </section>
  );
}

function Name({ part }: { part: ToolPart }) {
  const { verb } = toolTitle(part);
  return verb === undefined ? <code class="name">{showUnseen(part.name)}</code> : <span class="verb">{verb}</span>;
}

/** The subject of a call: a file, a command, a query. */
function Subject({ part }: { part: ToolPart }) {
  const { file, gist, counts } = toolTitle(part);
  // A card that waits shows all of it below.
  const whole = part.state.type === 'waiting' && part.action !== undefined && part.action.type !== 'changes';
  return (
    <>
      {file ? <FileLink path={file.path} line={file.line} /> : null}
      {counts ? <Counts {...counts} /> : null}
      <span class="gist" title={gist}>
        {whole ? '' : gist}
      </span>
    </>
  );
}

/** The whole effect of a waiting call, above its buttons. */
function Decision({ part }: { part: ToolPart }) {
  const { typed } = usePanel();
  const { action, id } = part;
  if (action?.type === 'question') return <Question call={id} question={action.question} choices={action.choices} />;
  return (
    <>
      <div class="details">
        <Origin part={part} />
        {action?.type === 'command' ? (
          <>
            {action.explanation === '' ? null : <p class="plain">{showUnseen(action.explanation)}</p>}
            <CommandBox
              command={action.command}
              edited={editedCommand(typed, part)}
              edit={(command) => typed.set({ kind: 'command', id, of: action.command }, command)}
            />
            {action.cwd === '' ? null : <p class="origin">{t('In {0}', showUnseen(action.cwd))}</p>}
          </>
        ) : (
          <Effect part={part} />
        )}
      </div>
      <Approval part={part} command={editedCommand(typed, part)} />
    </>
  );
}

/** Who provides the tool, and whether it can change anything. Omitted where the title has it. */
function Origin({ part: { origin, changes, name, state } }: { part: ToolPart }) {
  if (origin === OWN && !(changes && state.type === 'waiting')) return null;
  const from = origin === '' ? t('unknown') : showUnseen(origin);
  const effect = changes ? t('Can modify files') : t('Read-only');
  return (
    <p class="origin">
      {from} · {showUnseen(name)} · <span class={changes ? 'changes' : ''}>{effect}</span>
    </p>
  );
}

const STATE_ICONS: Readonly<Record<ToolState['type'], string>> = {
  receiving: 'loading',
  waiting: 'question',
  allowed: 'check',
  running: 'loading',
  done: 'check',
  denied: 'circle-slash',
  stopped: 'debug-stop',
};

function StateIcon({ state }: { state: ToolState }) {
  const failed = hasFailed(state);
  const moving = state.type === 'receiving' || state.type === 'running';
  return (
    <span class={failed ? 'state failed' : 'state'}>
      <Icon name={failed ? 'error' : STATE_ICONS[state.type]} spin={moving} />
    </span>
  );
}

/** A command that ends with another exit code than 0 has failed, although its output is a result for the model. */
export function hasFailed(state: ToolState): boolean {
  return state.type === 'done' && (state.failed === true || (state.exitCode ?? 0) !== 0);
}

/** Shorter calls show no time. */
const SLOW_MS = 1000;

function stateText({ state, action }: ToolPart): string {
  switch (state.type) {
    case 'receiving':
      return t('Being written');
    case 'waiting':
      return action?.type === 'question' ? t('Needs your answer') : t('Needs approval');
    case 'allowed':
      return t('Allowed');
    case 'running':
      return t('Running');
    case 'done':
      return doneText(state);
    case 'denied':
      return t('Denied');
    case 'stopped':
      return state.unstarted ? t('Not started') : t('Stopped');
  }
}

/** Whether the text of the state is only how long the call took. */
function isTime(state: ToolState): boolean {
  return state.type === 'done' && !hasFailed(state);
}

function doneText(state: Extract<ToolState, { type: 'done' }>): string {
  const { exitCode, ms = 0 } = state;
  const time = exitCode !== undefined || ms >= SLOW_MS ? t('{0} s', secondsText(ms)) : '';
  const result = exitCode === undefined ? (state.failed ? t('Failed') : '') : t('exit code {0}', exitCode);
  return [exitCode === 0 ? '' : result, time].filter(Boolean).join(' · ');
}
