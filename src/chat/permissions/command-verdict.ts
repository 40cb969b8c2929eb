import { splitWords } from '../../base/split-words.ts';
import { isReadOnly } from './read-only-commands.ts';
import { type ShellWord, type SimpleCommand, splitCommandLine } from './shell-syntax.ts';

/** A command that a call wants to run. */
export interface JudgedCommand {
  readonly command: string;
  /** Whether the shell has POSIX syntax. In other shells, only plain words are understood. */
  readonly posix: boolean;
  /** Whether all its files are in the workspace. If not, no built-in permission applies. */
  readonly inside: boolean;
  /** Its input is from outside the workspace, or the files that a word of it names are not known. No rule allows it. */
  readonly uncertain?: boolean;
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
  const denied = rules.deny.find((rule) => mentions(judged.command, commands, rule, false));
  if (denied !== undefined) return { effect: 'deny', rule: denied };
  if (commands === undefined || commands.length === 0) return { effect: 'none' };
  const restricted = commands.some(({ words }) => rules.ask.some((rule) => startsWith(words, rule)));
  if (restricted || rules.ask.some((rule) => mentions(judged.command, commands, rule, false))) return { effect: 'ask' };
  // A word that the shell replaces may become a denied one.
  if (rules.deny.some((rule) => mentions(judged.command, commands, rule, true))) return { effect: 'ask' };
  return { effect: commands.every((command) => isAllowed(command, judged, rules)) ? 'allow' : 'none' };
}

function isAllowed(command: SimpleCommand, { inside, uncertain }: JudgedCommand, { allow }: CommandRules): boolean {
  if (!isPlain(command)) return false;
  const { words } = command;
  if ([...words.map(({ text }) => text), ...command.reads].some(isSystemPath)) return false;
  if (inside && isReadOnly(words)) return true;
  if (uncertain || !words.every(({ literal, pattern }) => literal || pattern !== undefined)) return false;
  return allow.some((rule) => startsWith(words, rule) && !hasRiskyOption(words, splitWords(rule)));
}

/** Network connections of bash, and files with variables and memory of programs. */
function isSystemPath(text: string): boolean {
  return /(?:^|[=:@,]|^-\w)\/+(?:\.\/+)*(?:dev\/+(?:tcp|udp|fd)|proc)(?:\/|$)/i.test(text);
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
  if (commands === undefined || judged.uncertain) return undefined;
  const prefixes: string[] = [];
  for (const command of commands) {
    if (isAllowed(command, judged, rules)) continue;
    const prefix = isPlain(command) ? prefixOf(command.words) : undefined;
    if (prefix === undefined) return undefined;
    // The offered rule would not cover this command.
    if (!isAllowed(command, judged, { ...rules, allow: [prefix] })) return undefined;
    prefixes.push(prefix);
  }
  return prefixes.length === 0 ? undefined : [...new Set(prefixes)];
}

/** Programs whose first argument is a subcommand. */
const WITH_SUBCOMMAND = new Set(
  splitWords(`
    git npm pnpm yarn bun deno cargo go dotnet docker kubectl gh make just gradle ./gradlew mvn ./mvnw pip pip3 uv
    poetry bundle rake rails composer npx swift terraform helm nx turbo systemctl brew apt apt-get conda mix
  `),
);
/** Subcommands that run their arguments. */
const RUNNERS = new Set(['run', 'exec', 'dlx', 'x']);
/** Programs that run or change anything, depending on their arguments: no rule is offered for them. */
const TOO_POWERFUL = new Set([
  ...splitWords(`
    rm rmdir mv cp dd ln chmod chown truncate tee install sed awk perl sh bash zsh fish dash ksh pwsh powershell cmd
    eval exec source . sudo doas su env xargs command builtin nohup nice timeout watch ssh scp rsync curl wget nc
    python python3 node ruby php kill killall pkill find
  `),
  // Builtins that change the meaning of the next commands of the line.
  ...splitWords(`
    printf export declare typeset local readonly read mapfile readarray getopts let set unset setopt shopt alias hash
    enable trap wait test [ pushd popd
  `),
  // Interpreters, editors and pagers that run text of their arguments or files.
  ...splitWords(`
    gawk mawk nawk lua luajit tclsh expect osascript gdb lldb ed ex vi vim nvim emacs nano less more man crontab at
    batch make4ht m4 bc dc jjs pypy rscript r julia ghci irb jshell groovy scala sqlite3 psql mysql redis-cli
  `),
  // Names and packets carry data to other machines.
  ...splitWords('ping ping6 dig host nslookup drill traceroute telnet ftp sftp socat ncat nmap'),
]);

/** Programs that change nothing and start no other program, with every option, and show only files that they name. */
const HARMLESS = new Set(
  splitWords(`
    cat head tail wc ls cut tr nl tac rev fold paste cmp comm stat cksum md5sum sha1sum sha256sum sha512sum realpath
    readlink basename dirname pwd echo true false sleep seq which whoami id uname uptime df nproc arch
  `),
);

/** A rule of one word is offered for harmless programs only: others may run or write something with an option. */
function prefixOf(words: readonly ShellWord[]): string | undefined {
  const [program, second, third] = words;
  if (!program?.literal || isTooPowerful(program.text)) return undefined;
  if (HARMLESS.has(program.text)) return offered([program]);
  // An option before the subcommand, such as `git -C`, may change its meaning.
  if (!second?.literal || !/^[\w.@/][\w:.@/+-]*$/.test(second.text)) return undefined;
  if (!WITH_SUBCOMMAND.has(program.text) || !RUNNERS.has(second.text)) return offered([program, second]);
  return third?.literal && !third.text.startsWith('-') ? offered([program, second, third]) : undefined;
}

/** Also with a version (`python3.11`), and programs that run their arguments. */
function isTooPowerful(program: string): boolean {
  const name = programName(program);
  return [name, name.split(/\d/, 1)[0] ?? ''].some((one) => TOO_POWERFUL.has(one) || WRAPPERS.has(one));
}

/** A rule is split at spaces, so words with other characters can't be in it. */
function offered(words: readonly ShellWord[]): string | undefined {
  const fits = words.every(({ text }) => /^[\w:.@/+-]+$/.test(text));
  return fits ? words.map(({ text }) => text).join(' ') : undefined;
}

/** No rule allows a command that writes files by redirection or changes variables such as PATH. */
function isPlain({ words, assigns, writes }: SimpleCommand): boolean {
  return words.length > 0 && !assigns && writes.length === 0;
}

function startsWith(words: readonly ShellWord[], rule: string): boolean {
  const wanted = splitWords(rule);
  return (
    wanted.length > 0 &&
    wanted.every((text, index) => {
      const word = words[index];
      return word?.literal && word.text === text;
    })
  );
}

function baseName(program: string): string {
  return program.slice(program.search(/[^\\/]*$/)).replace(/\.exe$/i, '');
}

/** Programs that run the rest of their arguments as a command. */
const WRAPPERS = new Set(
  splitWords(`
    sudo doas env command builtin exec nohup nice time timeout xargs watch eval sh bash zsh fish dash ksh su find
    busybox stdbuf setsid ssh pwsh powershell cmd ionice chrt taskset strace ltrace script unshare nsenter chroot
    flock parallel pkexec runuser tmux screen valgrind perf entr watchexec nodemon xvfb-run dbus-run-session
    systemd-run caffeinate fakeroot proot bwrap firejail toybox direnv dotenv mise asdf prlimit setarch linux64
    cpulimit catchsegv arch-chroot
  `),
);

/** Long options of any program that write a file or run a program. GNU and Git accept abbreviations of them. */
const RISKY_LONG = splitWords(`
  output output-file output-dir output-directory outfile outdir out-dir out-file pre ext-diff textconv exec
  exec-batch exec-path compress-program use-compress-program to-command checkpoint-action info-script
  new-volume-script rsh rsh-command rmt-command rsync-path upload-pack receive-pack open-files-in-pager config
  config-env pager command eval require import loader experimental-loader init-file rcfile script-shell in-place
  node-options userconfig globalconfig prefix hostname-bin plugin shell editor makefile git-dir work-tree
  files0-from reporter resolver rulesdir unzip-command call dump-header cookie-jar trace trace-ascii append-output
  directory-prefix upload-file
`);
/** Their short forms, also in a group such as `-uo`. */
const RISKY_SHORT = /[oOxXc]/;
const MORE_SHORT: Readonly<Record<string, RegExp>> = {
  tar: /[IF]/,
  bsdtar: /[IF]/,
  gtar: /[IF]/,
  man: /[PH]/,
  zip: /T/,
  rsync: /e/,
  sed: /[iefEs]/,
  make: /[fCI]/,
  gmake: /[fCI]/,
  npm: /C/,
  xxd: /r/,
  perl: /[eEiIM]/,
  ruby: /[eirI]/,
  node: /[epri]/,
  php: /[rf]/,
  less: /[kK]/,
  ssh: /[FEJ]/,
  awk: /[fiE]/,
  curl: /[DFKT]/,
  wget: /[aiP]/,
};
/** Arguments that are no options, and write a file or run a program: variables of make, such as `SHELL=x`. */
const RISKY_ARGUMENTS: Readonly<Record<string, RegExp>> = {
  make: /^[\w.]+[:+?!]*=/,
  gmake: /^[\w.]+[:+?!]*=/,
  dd: /^of=/,
};
/** Programs with long options after one dash, and those of them that write or run. */
const ONE_DASH: Readonly<Record<string, RegExp>> = {
  go: /^--?(?:o|exec|toolexec|vettool|overlay|modfile|c|C|ldflags|gcflags|asmflags|\w*profile|outputdir|trace)(?:=|$)/,
  terraform: /^--?(?:out|chdir|state|state-out|backup|plugin-dir|config|var-file|from-module|backend-config)(?:=|$)/,
  java: /^/,
  javac: /^/,
  find: /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/,
};

/** Whether an option after the words of a rule writes a file or runs a program. The rule must contain it to allow it. */
function hasRiskyOption(words: readonly ShellWord[], rule: readonly string[]): boolean {
  const [written = '', ...args] = words.map(({ text }) => text);
  if (HARMLESS.has(written)) return false;
  const program = programName(written);
  const oneDash = Object.hasOwn(ONE_DASH, program) ? ONE_DASH[program] : undefined;
  const risky = Object.hasOwn(RISKY_ARGUMENTS, program) ? RISKY_ARGUMENTS[program] : undefined;
  return args.some((arg) => {
    if (rule.includes(arg)) return false;
    if (/^[+]|^\w+::/.test(arg) || risky?.test(arg)) return true;
    if (!arg.startsWith('-')) return false;
    if (oneDash) return oneDash.test(arg);
    const name = /^--([\w-]+)/.exec(arg)?.[1]?.toLowerCase();
    if (name !== undefined) return RISKY_LONG.some((risky) => risky.startsWith(name));
    const group = /^-[A-Za-z]+/.exec(arg)?.[0] ?? '';
    const more = Object.hasOwn(MORE_SHORT, program) ? MORE_SHORT[program] : undefined;
    return RISKY_SHORT.test(group) || (more?.test(group) ?? false);
  });
}

/**
 * Whether the words of a rule are in the line: the program anywhere in a command, also after `sudo` or a path, then the
 * other words in this order, whatever is between them. It finds too much rather than too little.
 *
 * @param guess a word that the shell replaces may be any word.
 */
function mentions(line: string, commands: readonly SimpleCommand[] | undefined, rule: string, guess: boolean): boolean {
  const wanted = splitWords(rule).map((text, index) => (index === 0 ? programName(text) : text));
  if (wanted.length === 0) return false;
  const loose = (text: string) => hasInOrder(looseWords(text), wanted);
  if (commands === undefined) return loose(line) || loose(line.replaceAll('\\\n', ''));
  return commands.some(({ words }) => {
    const [program] = words;
    if (hasInOrder(guess ? words.map(possibleText) : words.map(({ text }) => text), wanted)) return true;
    // The name of the program is not known.
    if (program?.literal === false) return loose(line);
    // It may run a word as a command line.
    const runsText = words.some(
      ({ text }) => WRAPPERS.has(programName(text)) || /^(?:-[ce]|--?(?:call|eval|command|exec))\b/.test(text),
    );
    return (
      runsText &&
      loose(
        words
          .slice(1)
          .map(({ text }) => text)
          .join(' '),
      )
    );
  });
}

/** Any text: a word whose value is not known before the shell runs. */
const ANY = Symbol('any text');

function possibleText({ text, literal, pattern }: ShellWord): string | typeof ANY {
  // Globs give names of files: only one that looks like a word without a type can be a subcommand.
  return literal || (pattern !== undefined && /^[^{]*[/.][^{]*$/.test(text)) ? text : ANY;
}

function looseWords(text: string): readonly string[] {
  return text.split(/[\s"'`;&|(){}<>$\\]+/);
}

/** Compares options as programs read them: in any place, `-fr` and `-r -f` like `-rf`, `--force=x` like `--force`. */
function hasInOrder(words: readonly (string | typeof ANY)[], [program = '', ...wanted]: readonly string[]): boolean {
  return words.some((word, start) => {
    if (word !== ANY && programName(word) !== program) return false;
    const rest = words.slice(start + 1);
    let from = 0;
    return wanted.every((text) => {
      if (text.startsWith('-')) return hasOption(rest, text);
      const at = rest.findIndex((one, index) => index >= from && (one === text || one === ANY));
      from = at + 1;
      return at !== -1;
    });
  });
}

function hasOption(words: readonly (string | typeof ANY)[], option: string): boolean {
  if (words.some((word) => word === ANY || word === option || word.startsWith(`${option}=`))) return true;
  const letters = /^-([A-Za-z]+)$/.exec(option)?.[1] ?? '';
  const groups = words.map((word) => (word === ANY ? '' : (/^-([A-Za-z]+)/.exec(word)?.[1] ?? ''))).join('');
  return letters !== '' && [...letters].every((letter) => groups.includes(letter));
}

/** As file systems and shells find it: without folder and `.exe`, whatever its case. */
function programName(program: string): string {
  return baseName(program).toLowerCase();
}
