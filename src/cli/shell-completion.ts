import { parseArgs } from 'node:util';
import { type Run, UsageError } from './io.ts';
import type { Command } from './options.ts';
import { listOptions, type NamedOption } from './options.ts';

/** `svc completion SHELL`: prints a script for the shell to source, generated from the table of commands. */
export function createCompletionCommand(commands: readonly Command[]): Run {
  return async (args, io) => {
    const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
    const [shell, ...more] = positionals;
    const write = SHELLS.get(shell ?? '');
    if (write === undefined || more.length > 0) {
      throw new UsageError('svc completion supports bash, zsh and fish. For example: source <(svc completion bash)');
    }
    await io.out(write(commands));
    return 0;
  };
}

const SHELLS: ReadonlyMap<string, (commands: readonly Command[]) => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
]);

/**
 * Lists the models on each completion, without a cache, so that a new provider appears immediately. No
 * file of a project is read because Tab was pressed. Ids come from providers. A shell may read an id as code, so only those without other characters are offered.
 */
const MODELS = 'svc models --no-project 2>/dev/null | LC_ALL=C grep -xE "[A-Za-z0-9_.:/@+-]+"';

function flags({ name, short }: NamedOption): string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
}

function bash(commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const rows = commands.map(({ name, words = [], options }) => {
    const all = [...words, ...listOptions(options).flatMap(flags)].join(' ');
    return `    ${name}) words=${quoted(all)} ;;`;
  });
  const values = commands.flatMap(({ options }) => listOptions(options)).filter(({ value }) => value !== undefined);
  const taking = new Map<string, string>();
  for (const option of values) for (const flag of flags(option)) taking.set(flag, bashValue(option));
  const cases = [...taking].filter(([, reply]) => reply !== '').map(([flag, reply]) => `    ${flag}) ${reply} ;;`);
  const silent = [...taking].filter(([, reply]) => reply === '').map(([flag]) => flag);
  // Not compgen -W: it expands its list again, so that an id such as $(command) would be run.
  return `# Completion of svc for bash: source <(svc completion bash)
_svc_offer() {
  local prefix=$1 each
  shift
  for each in "$@"; do
    if [[ $each == "$prefix"* ]]; then COMPREPLY+=("$each"); fi
  done
}
_svc_models() {
  local prefix=$1 each
  while IFS= read -r each; do _svc_offer "$prefix" "$each"; done < <(${MODELS})
}
_svc_files() {
  local each
  while IFS= read -r each; do COMPREPLY+=("$each"); done < <(compgen -f -- "$1")
}
_svc() {
  local current previous words
  current=\${COMP_WORDS[COMP_CWORD]}
  previous=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _svc_offer "$current" ${names}
    return
  fi
  case "$previous" in
${[...cases, `    ${silent.join('|')}) return ;;`].join('\n')}
  esac
  case "\${COMP_WORDS[1]}" in
${rows.join('\n')}
    *) words='' ;;
  esac
  # Word splitting is intended: the words are constants of this script.
  _svc_offer "$current" $words
}
complete -o default -F _svc svc
`;
}

function bashValue({ value, choices }: NamedOption): string {
  if (choices !== undefined) return `_svc_offer "$current" ${choices.join(' ')}; return`;
  // Bash splits words at colons, and model ids may contain one. The text before the colon is removed from the
  // suggestions.
  if (value === 'MODEL') return '_svc_models "$current"; return';
  if (value === 'FILE') return '_svc_files "$current"; return';
  return '';
}

function zsh(commands: readonly Command[]): string {
  const names = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n');
  const cases = commands.map(({ name, words = [], options }) => {
    const first = words.length === 0 ? quoted('*:file:_files') : quoted(`1:word:(${words.join(' ')})`);
    const specs = [first, ...listOptions(options).flatMap(zshOption)];
    return `    ${name}) _arguments ${specs.join(' \\\n      ')} ;;`;
  });
  return `#compdef svc
# Completion of svc for zsh: source <(svc completion zsh)
_svc_models() {
  local -a models
  models=(\${(f)"$(${MODELS})"})
  compadd -a models
}
_svc() {
  local -a commands
  commands=(
${names}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=\${words[2]}
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
compdef _svc svc
`;
}

function zshOption(option: NamedOption): string[] {
  const { value, choices, summary } = option;
  const about = summary.replaceAll(/[[\]:]/g, ' ');
  const end =
    value === undefined ? '' : `:${value.toLowerCase()}:${choices ? `(${choices.join(' ')})` : zshAction(value)}`;
  return flags(option).map((flag) => quoted(`${flag}[${about}]${end}`));
}

function zshAction(value: string): string {
  return value === 'MODEL' ? '_svc_models' : value === 'FILE' ? '_files' : ' ';
}

function fish(commands: readonly Command[]): string {
  const lines = ['# Completion of svc for fish: svc completion fish | source', 'complete -c svc -f'];
  for (const { name, summary, words = [], options } of commands) {
    lines.push(`complete -c svc -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
    const inside = `-n ${quoted(`__fish_seen_subcommand_from ${name}`)}`;
    if (words.length > 0) lines.push(`complete -c svc ${inside} -a ${quoted(words.join(' '))}`);
    for (const option of listOptions(options)) lines.push(`complete -c svc ${inside} ${fishOption(option)}`);
  }
  lines.push(`complete -c svc -n ${quoted('__fish_seen_subcommand_from fim')} -F`);
  return `${lines.join('\n')}\n`;
}

function fishOption({ name, short, value, choices, summary }: NamedOption): string {
  const parts = [`-l ${name}`];
  if (short !== undefined) parts.push(`-s ${short}`);
  if (value !== undefined) parts.push(value === 'FILE' ? '-r -F' : '-x');
  if (choices !== undefined) parts.push(`-a ${quoted(choices.join(' '))}`);
  if (value === 'MODEL') parts.push(`-a ${quoted(`(${MODELS})`)}`);
  return `${parts.join(' ')} -d ${quoted(summary)}`;
}

/**
 * Quotes text as one shell word. A quote in it becomes a typographic one, so that every shell reads the word the same
 * way.
 */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}
