import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { findRealPath } from '../../base/real-path.ts';
import { isSecretFile } from '../../base/secret-files.ts';
import type { Caution } from '../message-parts.ts';
import { type JudgedCommand, parseCommand } from '../permissions/command-verdict.ts';
import { isReadOnly } from '../permissions/read-only-commands.ts';
import { expandPattern } from '../permissions/shell-expansion.ts';
import type { ShellWord, SimpleCommand } from '../permissions/shell-syntax.ts';
import { cautionFor } from './workspace-files.ts';

/** A file of the workspace. */
export interface NamedWorkspaceFile {
  readonly real: string;
  readonly relative: string;
}

/** Finds the workspace file at an absolute path without links. */
export type FindFile = (real: string) => Promise<NamedWorkspaceFile | undefined>;

export interface CommandFiles {
  /** The command names a file that may contain secrets, or that it may write and that causes programs to run. */
  readonly caution?: Caution;
  /** Every word that may be a path is one in the workspace, after resolving links. */
  readonly inside: boolean;
  /** The workspace files that its words may name, for rules. */
  readonly reads: readonly string[];
  /** Its input is from outside the workspace, or the files that a word of it names are not known. */
  readonly uncertain: boolean;
}

/** With more possible folders, the files of a command are not known. */
const MAX_FOLDERS = 16;
/** The limit of Linux. */
const MAX_PATH = 4096;
/** Commands of shells that change the folder in another way than `cd`, or that run text which may do it. */
const FOLDER_CHANGERS = new Set(['pushd', 'popd', 'chdir', 'builtin', 'command', 'eval', 'source', '.']);

/** Checks the files that a command names. @param cwd absolute path. */
export async function commandFiles(
  command: Pick<JudgedCommand, 'command' | 'posix'>,
  cwd: string,
  find: FindFile,
): Promise<CommandFiles> {
  const commands = parseCommand(command);
  const folders = new Set([cwd, (await findRealPath(cwd)) ?? cwd]);
  const found: CommandFiles[] = [];
  let inside = commands !== undefined && hasPlainPaths(command);
  let known = true;
  for (const each of commands ?? [looseCommand(command.command)]) {
    found.push(await namedFiles(each, folders, known, find));
    if (inside && each.words[0]?.text === 'git')
      inside = !(await Promise.all([...folders].map(mayBeBareRepository))).includes(true);
    known = (await addFolders(each, folders)) && known;
    inside = inside && known;
  }
  const caution = found.find((one) => one.caution)?.caution;
  return {
    ...(caution ? { caution } : {}),
    inside: inside && found.every((one) => one.inside),
    reads: [...new Set(found.flatMap(({ reads }) => reads))],
    uncertain: found.some(({ uncertain }) => uncertain),
  };
}

/**
 * Whether each path is a word as it is written. PowerShell splits words at commas and has drives such as `env:`. On
 * Windows, Git Bash has other absolute paths, and cmd runs programs of the current folder first.
 */
function hasPlainPaths({ command, posix }: Pick<JudgedCommand, 'command' | 'posix'>): boolean {
  return process.platform !== 'win32' && (posix || !/[,:]/.test(command));
}

/** The words of a line that is not understood. */
function looseCommand(line: string): SimpleCommand {
  const words = line
    .replaceAll('\\\n', '')
    .split(/[\s"'`=;&|<>()]+/)
    .map((text) => ({ text, literal: false }));
  return { words: [{ text: '', literal: false }, ...words], assigns: false, reads: [], writes: [] };
}

/**
 * Adds the folders that a `cd` may change to. It removes none: a `cd` can fail, and has no effect after a subshell or a
 * pipe. Returns false if the folders are not known.
 */
async function addFolders({ words }: SimpleCommand, folders: Set<string>): Promise<boolean> {
  const [program, target, ...rest] = words;
  if (program?.text !== 'cd') return !FOLDER_CHANGERS.has(program?.text ?? '');
  const plain = target?.literal && rest.length === 0 && !/^[-+]/.test(target.text) && !process.env.CDPATH;
  if (!plain || folders.size > MAX_FOLDERS) return false;
  for (const folder of [...folders]) {
    const real = await findRealPath(joinPath(folder, target.text));
    // Most shells resolve `..` in the text, some resolve links first.
    folders.add(path.resolve(folder, target.text));
    if (real !== undefined) folders.add(real);
  }
  return folders.size <= MAX_FOLDERS;
}

/** Git takes a folder with such a file for a repository. The configuration of a repository can start programs. */
async function mayBeBareRepository(folder: string): Promise<boolean> {
  if (await exists(path.join(folder, 'HEAD'))) return true;
  const parent = path.dirname(folder);
  return parent !== folder && !(await exists(path.join(folder, '.git'))) && mayBeBareRepository(parent);
}

/** Also true for a link to a missing file. */
async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}

/** The files that one command names, in each folder in which it may run. @param known whether these are all folders. */
async function namedFiles(
  command: SimpleCommand,
  folders: ReadonlySet<string>,
  known: boolean,
  find: FindFile,
): Promise<CommandFiles> {
  let uncertain = !known && command.words.some(({ literal }) => !literal);
  let caution: Caution | undefined;
  let inside = true;
  const reads: string[] = [];
  for (const folder of folders) {
    const expanded = await expandWords(command, folder);
    uncertain ||= expanded.uncertain;
    const writes = !isReadOnly(expanded.words.filter(({ literal }) => literal));
    const paths = pathWords(expanded);
    const parts = [...new Set([...paths, ...expanded.words.slice(1).flatMap(({ text }) => partsOfWord(text))])];
    const secret = parts.find(isSecretFile);
    if (secret !== undefined) caution ??= { kind: 'secret', path: secret };
    for (const written of parts) {
      const file = await findFile(folder, written, find);
      if (!file && paths.includes(written)) inside = false;
      if (!file && command.reads.includes(written) && written !== '/dev/null') uncertain = true;
      if (!file) continue;
      caution ??= cautionFor(file, written, 'read') ?? (writes ? cautionFor(file, written, 'write') : undefined);
      if (file.relative !== '') reads.push(file.relative);
    }
  }
  return { ...(caution ? { caution } : {}), inside, reads, uncertain };
}

/** The command with the words that the shell makes in a folder. */
async function expandWords(
  command: SimpleCommand,
  folder: string,
): Promise<SimpleCommand & { readonly uncertain: boolean }> {
  let uncertain = false;
  const words: ShellWord[] = [];
  for (const word of command.words) {
    words.push(word);
    if (word.pattern === undefined) continue;
    const texts = await expandPattern(word.pattern, folder);
    if (texts === undefined) uncertain = true;
    else words.push(...texts.map((text) => ({ text, literal: true })));
  }
  return { ...command, words, uncertain };
}

async function findFile(folder: string, written: string, find: FindFile): Promise<NamedWorkspaceFile | undefined> {
  const real = written.length < MAX_PATH ? await findRealPath(joinPath(folder, written)) : undefined;
  return real === undefined ? undefined : find(real);
}

/** Not normalized: where `a` is a link, `a/..` is not the folder of `a`. */
function joinPath(folder: string, written: string): string {
  return path.isAbsolute(written) ? written : `${folder}/${written}`;
}

/** Arguments, values of options, and redirections. All words after `--` are arguments. */
function pathWords({ words, reads, writes }: SimpleCommand): readonly string[] {
  const args = words.slice(1).map(({ text }) => text);
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const values = args
    .slice(0, end)
    .map((text) => (text.startsWith('-') ? text.slice(text.indexOf('=') + 1) : text))
    .filter((text) => !text.startsWith('-'));
  return [...values, ...args.slice(end + 1), ...reads, ...writes].filter((text) => text !== '');
}

/** Other paths in a word: `HEAD:.env`, `if=.env`, `-f.env`. */
function partsOfWord(word: string): readonly string[] {
  const attached = /^-[A-Za-z](?=.*[./])/.test(word) ? [word.slice(2)] : [];
  const after = [':', '='].filter((mark) => word.includes(mark)).map((mark) => word.slice(word.indexOf(mark) + 1));
  return [...attached, ...after].filter((text) => text !== '');
}
