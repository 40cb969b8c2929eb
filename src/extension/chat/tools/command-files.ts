import { posix } from 'node:path';
import { isSecretFile } from '../../../base/secret-files.ts';
import { type JudgedCommand, parseCommand } from '../../../chat/permissions/command-verdict.ts';
import type { SimpleCommand } from '../../../chat/permissions/shell-syntax.ts';
import type { Caution } from '../../../chat/tools/caution.ts';
import { cautionFor } from '../../../chat/tools/workspace-files.ts';
import { workspaceFile } from './workspace-path.ts';

export interface CommandFiles {
  /** The command names a file that may contain secrets. */
  readonly caution?: Caution;
  /** Every word that may be a path is one in the workspace, after resolving links. */
  readonly inside: boolean;
}

/** Checks the files that a command names. @param cwd absolute path. */
export async function commandFiles(
  command: Pick<JudgedCommand, 'command' | 'posix'>,
  cwd: string,
): Promise<CommandFiles> {
  const commands = parseCommand(command);
  if (commands === undefined) return { inside: false, ...secretWord(command.command.split(/[\s"'`=;&|<>()]+/)) };
  let folder = cwd.replaceAll('\\', '/');
  let inside = true;
  for (const each of commands) {
    const paths = pathWords(each);
    const secret = secretWord(paths);
    if (secret) return { inside, ...secret };
    for (const path of paths) {
      const file = await workspaceFile(posix.resolve(folder, path)).catch(() => undefined);
      inside &&= file !== undefined;
      const caution = file && cautionFor(file, path, 'read');
      if (caution) return { inside, caution };
    }
    const [program, target] = each.words;
    if (program?.text === 'cd') folder = posix.resolve(folder, target?.text ?? '/');
  }
  return { inside };
}

/** Arguments, values of options, and redirections. */
function pathWords({ words, reads, writes }: SimpleCommand): readonly string[] {
  const values = words.slice(1).map(({ text }) => (text.startsWith('-') ? text.slice(text.indexOf('=') + 1) : text));
  return [...values, ...reads, ...writes].filter((text) => text !== '' && !text.startsWith('-') && text.length < 4096);
}

/** `HEAD:.env` names a file, too. */
function secretWord(words: readonly string[]): { readonly caution: Caution } | undefined {
  const path = words.flatMap((word) => [word, word.slice(word.indexOf(':') + 1)]).find(isSecretFile);
  return path === undefined ? undefined : { caution: { kind: 'secret', path } };
}
