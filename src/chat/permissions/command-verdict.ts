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
  return allow.some((rule) => startsWith(command.words, rule)) || (inside && isReadOnly(command));
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

type Check = (args: readonly string[]) => boolean;

const anyArguments: Check = () => true;
const noOption =
  (...options: readonly string[]): Check =>
  (args) =>
    !args.some((arg) => options.some((option) => arg === option || arg.startsWith(`${option}=`)));
const onlyOptions =
  (allowed: RegExp): Check =>
  (args) =>
    args.every((arg) => allowed.test(arg));

/** Subcommands of Git that show names and messages, not contents, and start no other program. */
const GIT: Readonly<Record<string, Check>> = {
  status: anyArguments,
  'rev-parse': anyArguments,
  'ls-files': anyArguments,
  log: onlyOptions(
    /^(?:--oneline|--graph|--all|--decorate|--stat|--name-only|--name-status|--no-color|-n|-?\d+|-n\d+|[\w.][\w./~^-]*|--)$/,
  ),
  branch: onlyOptions(/^(?:-a|-r|-v|-vv|--list|--all|--show-current|--no-color)$/),
  remote: onlyOptions(/^-v$/),
  tag: onlyOptions(/^(?:-l|--list)$/),
  diff: (args) => args.some((arg) => /^--(?:stat|shortstat|name-only|name-status)$/.test(arg)) && noPatch(args),
  show: (args) => args.some((arg) => /^--(?:stat|name-only|name-status)$/.test(arg)) && noPatch(args),
};

function noPatch(args: readonly string[]): boolean {
  return args.every(
    (arg) => !/^(?:-p|-u|-U\d*|--patch.*|--ext-diff|--textconv|--output.*|--unified.*|-W|-c|--cc|--raw)$/.test(arg),
  );
}

/** A filter reads its input, not files: at most one argument is no option. */
const filter: Check = (args) =>
  args.every((arg) => !/^(?:--file|--recursive|--dereference-recursive)|^-[a-zA-Z]*[rRf]/.test(arg)) &&
  args.filter((arg) => !arg.startsWith('-')).length <= 1;

const version = onlyOptions(/^(?:--version|-v|-V|version)$/);
const exactlyVersion: Check = (args) => args.length === 1 && version(args);

/** Programs without effects whose output is harmless, and the arguments that they may have. */
const READ_ONLY: Readonly<Record<string, Check>> = {
  ...{ pwd: anyArguments, ls: anyArguments, cd: anyArguments, echo: anyArguments, printf: noOption('-v') },
  ...{ cat: anyArguments, head: anyArguments, tail: anyArguments, wc: noOption('--files0-from'), tree: noOption('-o') },
  ...{ date: onlyOptions(/^\+/), whoami: anyArguments, uname: anyArguments, which: anyArguments, du: anyArguments },
  ...{ stat: anyArguments, basename: anyArguments, dirname: anyArguments, true: anyArguments, false: anyArguments },
  ...{ grep: filter, cut: noOption('--output'), tr: anyArguments },
  git: ([subcommand = '', ...args]) => Object.hasOwn(GIT, subcommand) && (GIT[subcommand]?.(args) ?? false),
  find: onlyOptions(
    /^(?:[^-].*|-name|-iname|-type|-maxdepth|-mindepth|-path|-ipath|-not|-o|-a|-size|-mtime|-print|-empty)$/,
  ),
  ...Object.fromEntries(
    [
      'node',
      'npm',
      'pnpm',
      'yarn',
      'bun',
      'deno',
      'python',
      'python3',
      'pip',
      'go',
      'rustc',
      'cargo',
      'java',
      'ruby',
    ].map((name) => [name, exactlyVersion]),
  ),
};

function isReadOnly({ words }: SimpleCommand): boolean {
  if (!words.every(({ literal }) => literal)) return false;
  const [program = '', ...args] = words.map(({ text }) => text);
  return Object.hasOwn(READ_ONLY, program) && (READ_ONLY[program]?.(args) ?? false);
}
