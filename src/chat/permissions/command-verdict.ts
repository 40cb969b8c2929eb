import { isReadOnly } from './read-only-commands.ts';
import { type ShellWord, type SimpleCommand, splitCommandLine } from './shell-syntax.ts';

/** A command that a call wants to run. */
export interface JudgedCommand {
  readonly command: string;
  /** Whether the shell has POSIX syntax. In other shells, only plain words are understood. */
  readonly posix: boolean;
  /** Whether all its files are in the workspace. If not, no built-in permission applies. */
  readonly inside: boolean;
}

/** Texts of command rules: the first words of a command. */
export interface CommandRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** `none`: no rule is about it. */
export type Verdict =
  | { readonly effect: 'allow' | 'ask' | 'none' }
  /** `rule`: the text of the rule. */
  | { readonly effect: 'deny'; readonly rule: string };

/** Judges a whole command line: each command in it must be allowed, and none denied. */
export function judgeCommand(judged: JudgedCommand, rules: CommandRules): Verdict {
  const commands = parseCommand(judged);
  const denied = rules.deny.find((rule) => mentions(judged.command, commands, rule));
  if (denied !== undefined) return { effect: 'deny', rule: denied };
  if (commands === undefined || commands.length === 0) return { effect: 'none' };
  if (commands.some(({ words }) => rules.ask.some((rule) => startsWith(words, rule)))) return { effect: 'ask' };
  return { effect: commands.every((command) => isAllowed(command, judged, rules)) ? 'allow' : 'none' };
}

function isAllowed(command: SimpleCommand, { inside }: JudgedCommand, { allow }: CommandRules): boolean {
  if (!isPlain(command)) return false;
  return allow.some((rule) => startsWith(command.words, rule)) || (inside && isReadOnly(command.words));
}

/** The commands of a line; undefined if it is not understood. */
export function parseCommand({
  command,
  posix,
}: Pick<JudgedCommand, 'command' | 'posix'>): readonly SimpleCommand[] | undefined {
  if (posix) return splitCommandLine(command);
  // No character here has a meaning for cmd or PowerShell.
  if (!/^[\w ./:=,+-]*$/.test(command)) return undefined;
  return splitCommandLine(command);
}

/**
 * The rules that would allow a command from now on: of each of its commands the program and its subcommand. Undefined
 * if a rule would allow too much, or could not allow it.
 */
export function offeredPrefixes(judged: JudgedCommand, rules: CommandRules): readonly string[] | undefined {
  const commands = parseCommand(judged);
  if (commands === undefined) return undefined;
  const prefixes: string[] = [];
  for (const command of commands) {
    if (isAllowed(command, judged, rules)) continue;
    const prefix = isPlain(command) ? prefixOf(command.words) : undefined;
    if (prefix === undefined) return undefined;
    prefixes.push(prefix);
  }
  return prefixes.length === 0 ? undefined : [...new Set(prefixes)];
}

/** Programs whose first argument is a subcommand. */
const WITH_SUBCOMMAND = new Set([
  ...['git', 'npm', 'pnpm', 'yarn', 'bun', 'deno', 'cargo', 'go', 'dotnet', 'docker', 'kubectl', 'gh', 'make', 'just'],
  ...['gradle', './gradlew', 'mvn', './mvnw', 'pip', 'pip3', 'uv', 'poetry', 'bundle', 'rake', 'rails', 'composer'],
  ...['npx', 'swift', 'terraform', 'helm', 'nx', 'turbo', 'systemctl', 'brew', 'apt', 'apt-get', 'conda', 'mix'],
]);
/** Subcommands that run what follows. */
const RUNNERS = new Set(['run', 'exec', 'dlx', 'x']);
/** Programs that run or change anything, depending on their arguments: no rule is offered for them. */
const TOO_POWERFUL = new Set([
  ...['rm', 'rmdir', 'mv', 'cp', 'dd', 'ln', 'chmod', 'chown', 'truncate', 'tee', 'install', 'sed', 'awk', 'perl'],
  ...['sh', 'bash', 'zsh', 'fish', 'dash', 'ksh', 'pwsh', 'powershell', 'cmd', 'eval', 'exec', 'source', '.'],
  ...['sudo', 'doas', 'su', 'env', 'xargs', 'command', 'builtin', 'nohup', 'nice', 'timeout', 'watch', 'ssh', 'scp'],
  ...['rsync', 'curl', 'wget', 'nc', 'python', 'python3', 'node', 'ruby', 'php', 'kill', 'killall', 'pkill', 'find'],
  // Builtins that change what the next commands of the line mean.
  ...['printf', 'export', 'declare', 'typeset', 'local', 'readonly', 'read', 'mapfile', 'readarray', 'getopts', 'let'],
  ...['set', 'unset', 'setopt', 'shopt', 'alias', 'hash', 'enable', 'trap', 'wait', 'test', '[', 'pushd', 'popd'],
]);

function prefixOf(words: readonly ShellWord[]): string | undefined {
  const [program, second, third] = words;
  if (!program?.literal || !second?.literal)
    return program?.literal && words.length === 1 ? offered([program]) : undefined;
  if (TOO_POWERFUL.has(baseName(program.text))) return undefined;
  if (!WITH_SUBCOMMAND.has(program.text)) return offered([program]);
  // An option before the subcommand, such as `git -C`.
  if (!/^[A-Za-z][\w:.@/-]*$/.test(second.text)) return undefined;
  if (!RUNNERS.has(second.text)) return offered([program, second]);
  return third?.literal && /^[\w:.@/-]+$/.test(third.text) && !third.text.startsWith('-')
    ? offered([program, second, third])
    : undefined;
}

/** A rule is split at spaces, so words with other characters can't be in it. */
function offered(words: readonly ShellWord[]): string | undefined {
  const fits = words.every(({ text }) => /^[\w:.@/+-]+$/.test(text));
  return fits && !TOO_POWERFUL.has(baseName(words[0]?.text ?? ''))
    ? words.map(({ text }) => text).join(' ')
    : undefined;
}

/** No rule allows a command that writes files by redirection or changes variables such as PATH. */
function isPlain({ words, assigns, writes }: SimpleCommand): boolean {
  return words.length > 0 && !assigns && writes.length === 0;
}

function startsWith(words: readonly ShellWord[], rule: string): boolean {
  const wanted = ruleWords(rule);
  return (
    wanted.length > 0 &&
    wanted.every((text, index) => {
      const word = words[index];
      return word?.literal && word.text === text;
    })
  );
}

function ruleWords(rule: string): readonly string[] {
  return rule.trim().split(/\s+/).filter(Boolean);
}

function baseName(program: string): string {
  return program.slice(program.search(/[^\\/]*$/)).replace(/\.exe$/i, '');
}

/** Programs that run the rest of their arguments as a command. */
const WRAPPERS = new Set([
  ...[
    'sudo',
    'doas',
    'env',
    'command',
    'builtin',
    'exec',
    'nohup',
    'nice',
    'time',
    'timeout',
    'xargs',
    'watch',
    'eval',
  ],
  ...['sh', 'bash', 'zsh', 'fish', 'dash', 'ksh', 'su', 'find', 'npx', 'busybox', 'stdbuf', 'setsid', 'ssh', 'pwsh'],
  ...['powershell', 'cmd'],
]);

/** Whether a denied command is in the line, also behind a path, `sudo` or `bash -c`. */
function mentions(line: string, commands: readonly SimpleCommand[] | undefined, rule: string): boolean {
  const wanted = ruleWords(rule);
  if (wanted.length === 0) return false;
  if (commands === undefined) return contains(looseWords(line), wanted);
  return commands.some(({ words }) => {
    const texts = words.map(({ text }, index) => (index === 0 ? baseName(text) : text));
    const [program = ''] = texts;
    const written = words[0]?.text;
    if (wanted.every((text, index) => texts[index] === text || (index === 0 && written === text))) return true;
    // The name of the program is not known.
    if (words[0]?.literal === false) return contains(looseWords(line), wanted);
    return WRAPPERS.has(program) && contains(looseWords(texts.slice(1).join(' ')), wanted);
  });
}

function looseWords(text: string): readonly string[] {
  return text.split(/[\s"'`;&|(){}<>$\\]+/).map(baseName);
}

function contains(words: readonly string[], wanted: readonly string[]): boolean {
  return words.some((_, start) => wanted.every((text, index) => words[start + index] === text));
}
