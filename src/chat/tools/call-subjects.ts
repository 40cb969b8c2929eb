import type { FileChange } from '../message-parts.ts';
import type { Subject } from '../permissions/permission-rules.ts';
import { type ChatTool, type PreparedCall, toolKey } from './tools.ts';

/** The parts of a call that rules decide about. */
export function callSubjects(tool: ChatTool, { action, reads = [], shell }: PreparedCall): readonly Subject[] {
  const files = reads.map((path): Subject => ({ kind: 'read', path }));
  switch (action?.type) {
    case 'changes':
      return [...files, ...action.changes.flatMap(changeSubjects)];
    case 'command':
      return [{ kind: 'command', command: action.command, reads, ...(shell ?? { posix: false, inside: false }) }];
    case 'fetch':
      return [...files, { kind: 'fetch', origin: action.origin }];
    default:
      return [...files, { kind: 'tool', key: tool.identity ?? toolKey(tool), names: toolNames(tool) }];
  }
}

/** Rules that restrict a tool do so whatever its definition. */
function toolNames(tool: ChatTool): readonly string[] {
  const name = toolKey(tool);
  return tool.identity === undefined ? [name] : [name, tool.identity.replace(/#[^#]*$/, '')];
}

function changeSubjects({ kind, path, newPath }: FileChange): readonly Subject[] {
  const access = kind === 'delete' ? 'delete' : 'edit';
  return [path, ...(newPath === undefined ? [] : [newPath])].map((one) => ({ kind: access, path: one }));
}
