import type { ShellWord } from './shell-syntax.ts';

/** Whether arguments of a program have no effect and show no secrets. */
type Check = (args: readonly string[]) => boolean;

/** Any operands, and options that match as a whole. Others are refused: abbreviations, values of short options, `--`. */
const options =
  (allowed: RegExp): Check =>
  (args) =>
    args.every((arg) => !arg.startsWith('-') || allowed.test(arg));
/** Options and operands that match as a whole. */
const only =
  (allowed: RegExp): Check =>
  (args) =>
    args.every((arg) => allowed.test(arg));
const anyArguments: Check = () => true;
const noArguments: Check = (args) => args.length === 0;
/** Other texts are names of scripts: `python version` runs a file. */
const oneOf =
  (...texts: readonly string[]): Check =>
  (args) =>
    args.length === 1 && texts.includes(args[0] ?? '');

const diffOptions = options(
  /^--(?:stat|shortstat|numstat|summary|name-only|name-status|cached|staged|merge-base|no-color|no-renames)?$/,
);

/** Subcommands of Git that show names and messages, not contents or addresses, and start no other program. */
const GIT: Readonly<Record<string, Check>> = {
  status: options(
    /^(?:-[sb]+|-u(?:no|normal|all)?|--|--short|--branch|--porcelain(?:=v[12])?|--untracked-files(?:=(?:no|normal|all))?|--ignored)$/,
  ),
  'rev-parse': only(
    /^(?:--abbrev-ref|--short|--verify|--show-toplevel|--show-prefix|--git-dir|--is-inside-work-tree|[\w.][\w./~^-]*)$/,
  ),
  'ls-files': options(/^(?:-[cdmosz]+|--|--cached|--deleted|--modified|--others|--stage|--exclude-standard)$/),
  log: only(
    /^(?:--oneline|--graph|--all|--decorate|--stat|--name-only|--name-status|--no-color|-n|-?\d+|-n\d+|[\w.][\w./~^-]*|--)$/,
  ),
  branch: only(/^(?:-a|-r|-v|-vv|--list|--all|--show-current|--no-color)$/),
  // `-v` shows addresses, which can contain tokens.
  remote: noArguments,
  tag: only(/^(?:-l|--list)$/),
  // Without one of these options, it shows contents.
  diff: (args) => args.some((arg) => /^--(?:stat|shortstat|name-only|name-status)$/.test(arg)) && diffOptions(args),
};

const git: Check = ([subcommand = '', ...args]) => Object.hasOwn(GIT, subcommand) && (GIT[subcommand]?.(args) ?? false);

const grepOptions = options(
  /^(?:-[cEFGhHiLlnoPqsvwxz]+|-[ABCm]?\d+|--colou?r(?:=(?:always|auto|never))?|--(?:count|ignore-case|invert-match|line-number|only-matching|quiet|extended-regexp|fixed-strings|word-regexp))$/,
);

/** It filters its input and reads no files, so it has no operand other than the pattern. */
const grep: Check = (args) => grepOptions(args) && args.filter((arg) => !arg.startsWith('-')).length <= 1;

/**
 * Formats with `%s` only. `-v` and `%n` set variables such as PATH, and for numbers, zsh and ksh evaluate expressions
 * that can contain commands.
 */
const printf: Check = ([format = '']) => !format.startsWith('-') && /^(?:[^%]|%%|%-?\d*s)*$/.test(format);

/** To one folder. Without a folder, it changes to the home folder. */
const cd: Check = (args) => args.length === 1 && !/^[-+]/.test(args[0] ?? '');

/** Programs without effects whose output is harmless, and the arguments that they may have. */
const READ_ONLY: Readonly<Record<string, Check>> = {
  // Options that follow links are not included: a link can lead out of the workspace.
  ls: options(
    /^(?:-[1aACdFgGhilmnopqrRsStuUvxX]+|--(?:all|almost-all|color(?:=(?:always|auto|never))?|directory|human-readable|recursive|reverse|full-time|group-directories-first))$/,
  ),
  // `-o` and `-R` write files.
  tree: options(/^(?:-[aACdDfFghiILnpPrstu]+|--(?:dirsfirst|gitignore|noreport|prune))$/),
  du: options(/^(?:-[abchkmsx]+|-d\d*|--(?:all|human-readable|summarize|total|max-depth=\d+))$/),
  find: only(/^(?:[^-].*|-name|-iname|-type|-maxdepth|-mindepth|-path|-ipath|-not|-o|-a|-size|-mtime|-print|-empty)$/),
  stat: options(/^-[cft]$/),
  cat: options(/^(?:-[AbeEnstTuv]+|--(?:number|number-nonblank|show-all|show-ends|show-tabs|squeeze-blank))$/),
  head: options(/^(?:-[nc]?[+-]?\d+|-[ncqv]|--(?:lines|bytes)=[+-]?\d+)$/),
  tail: options(/^(?:-[nc]?[+-]?\d+|-[ncqvf]|--(?:lines|bytes)=[+-]?\d+)$/),
  wc: options(/^(?:-[clLmw]+|--(?:bytes|chars|lines|words|max-line-length))$/),
  cut: options(/^-(?:[bcdf].*|s)$/),
  tr: options(/^-[cCdst]+$/),
  grep,
  git,
  printf,
  cd,
  pwd: only(/^-[LP]$/),
  echo: anyArguments,
  true: anyArguments,
  false: anyArguments,
  basename: options(/^-[as]$/),
  dirname: options(/^-z$/),
  date: only(/^(?:\+.*|-u)$/),
  whoami: noArguments,
  uname: only(/^-[aimnoprsv]+$/),
  which: options(/^-a$/),
  // Not here: yarn, pnpm, cargo and rustc, because files of the workspace select the program that they start.
  node: oneOf('--version', '-v'),
  npm: oneOf('--version', '-v'),
  bun: oneOf('--version', '-v'),
  deno: oneOf('--version', '-V'),
  python: oneOf('--version', '-V'),
  python3: oneOf('--version', '-V'),
  pip: oneOf('--version', '-V'),
  ruby: oneOf('--version', '-v'),
  java: oneOf('--version', '-version'),
  go: oneOf('version'),
};

/** Whether a command only reads. Its paths must be checked, too. */
export function isReadOnly(words: readonly ShellWord[]): boolean {
  if (!words.every(({ literal }) => literal)) return false;
  const [program = '', ...args] = words.map(({ text }) => text);
  return Object.hasOwn(READ_ONLY, program) && (READ_ONLY[program]?.(args) ?? false);
}
