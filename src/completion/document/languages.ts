import { ownEntry } from '../../base/json.ts';

/** Code in a string, for example `${name}`. */
export interface Interpolation {
  /** Delimiters of the strings that have it. */
  readonly quotes: readonly string[];
  readonly open: string;
  readonly close: string;
  /** Pattern of the characters before the opening delimiter, for example `f` in Python. */
  readonly prefix?: RegExp;
}

/** Syntax of a language: comments, brackets and strings. */
export interface Language {
  /** Start of a line comment; `undefined`: use `block`. */
  readonly line?: string;
  readonly block?: readonly [string, string];
  /** Delimiters of strings that end on their line. */
  readonly quotes: string;
  /** Delimiters of strings that may span lines, longest first. */
  readonly longQuotes: readonly string[];
  /** Delimiters of strings in which a backslash is an ordinary character. */
  readonly rawQuotes?: readonly string[];
  readonly interpolations?: readonly Interpolation[];
  /** True if the language has regular expressions between slashes. */
  readonly regexes?: boolean;
  /** True if brackets outside strings and comments are balanced. */
  readonly brackets: boolean;
  /** True if elements are closed by tags. */
  readonly tags?: boolean;
  /** True if the names of elements have no case: `</nav>` closes `<NAV>`. */
  readonly anyCase?: boolean;
  /** Words that close a block, for example `end`. */
  readonly blockEnds?: RegExp;
  /** A line that is code even if the text before it is not known, which may end in a string of several lines. */
  readonly definition?: RegExp;
  /** Lines below a rule start with a tab, as in a makefile. */
  readonly recipes?: true;
  /** The sign before a variable. */
  readonly variableSign?: string;
  /** True if the lines of a block are those that are indented after a colon. */
  readonly indentedBlocks?: boolean;
  /** Prose: brackets and indentation follow no grammar. */
  readonly prose?: boolean;
}

const C: Language = { line: '//', block: ['/*', '*/'], quotes: `"'`, longQuotes: [], brackets: true };
const TEMPLATE: Interpolation = { quotes: ['`'], open: '${', close: '}' };
const SCRIPT: Language = {
  ...C,
  longQuotes: ['`'],
  interpolations: [TEMPLATE],
  regexes: true,
  definition: /^(?:export |import |(?:async )?function |class |(?:const|let) \w+ = )/m,
};
const HASH: Language = { line: '#', quotes: `"'`, longQuotes: [], brackets: true };
/** In these languages, `'` is also a lifetime or a digit separator. */
const ONE_QUOTE: Language = { ...C, quotes: '"' };
const MARKUP: Language = { block: ['<!--', '-->'], quotes: '', longQuotes: [], brackets: false, tags: true };
const DASHES: Language = { line: '--', quotes: `"'`, longQuotes: [], brackets: true };
const LISP: Language = { line: ';', quotes: '"', longQuotes: [], brackets: true };
const PROSE: Language = { block: ['<!--', '-->'], quotes: '', longQuotes: [], brackets: false, prose: true };
const UNKNOWN: Language = { line: '#', quotes: '', longQuotes: [], brackets: false };

/** The apostrophes in the text of an element are no quotes. */
const JSX: Language = { ...SCRIPT, quotes: '"', tags: true };
const DOLLAR_BRACE = (...quotes: string[]): Interpolation => ({ quotes, open: '${', close: '}' });
const HASH_BRACE = (...quotes: string[]): Interpolation => ({ quotes, open: '#{', close: '}' });

const LANGUAGES: Readonly<Record<string, Language>> = {
  typescript: SCRIPT,
  typescriptreact: JSX,
  javascript: SCRIPT,
  javascriptreact: JSX,
  go: { ...C, longQuotes: ['`'], rawQuotes: ['`'] },
  java: { ...C, longQuotes: ['"""'] },
  kotlin: { ...C, longQuotes: ['"""'], interpolations: [DOLLAR_BRACE('"', '"""')], rawQuotes: ['"""'] },
  groovy: { ...C, longQuotes: ['"""', "'''"], interpolations: [DOLLAR_BRACE('"', '"""')], regexes: true },
  scala: { ...ONE_QUOTE, longQuotes: ['"""'], interpolations: [{ ...DOLLAR_BRACE('"', '"""'), prefix: /[a-z]$/ }] },
  swift: { ...ONE_QUOTE, longQuotes: ['"""'], interpolations: [{ quotes: ['"', '"""'], open: '\\(', close: ')' }] },
  c: C,
  cpp: ONE_QUOTE,
  'objective-c': C,
  csharp: {
    ...C,
    longQuotes: ['"""'],
    interpolations: [{ quotes: ['"', '"""'], open: '{', close: '}', prefix: /\$@?$|@\$$/ }],
  },
  rust: ONE_QUOTE,
  dart: { ...C, longQuotes: ['"""', "'''"], interpolations: [DOLLAR_BRACE('"', "'", '"""', "'''")] },
  php: { variableSign: '$', ...C, interpolations: [{ quotes: ['"'], open: '{$', close: '}' }] },
  json: { quotes: '"', longQuotes: [], brackets: true },
  jsonc: { ...C, quotes: '"' },
  css: { block: ['/*', '*/'], quotes: `"'`, longQuotes: [], brackets: true },
  scss: C,
  less: C,
  python: {
    ...HASH,
    longQuotes: ['"""', "'''"],
    interpolations: [{ quotes: ['"', "'", '"""', "'''"], open: '{', close: '}', prefix: /(?:^|\W)(?:f|fr|rf|t)$/i }],
    indentedBlocks: true,
    definition: /^[ \t]*(?:async )?(?:def \w+\(|class \w+[(:])/m,
  },
  ruby: { ...HASH, interpolations: [HASH_BRACE('"')], regexes: true, blockEnds: /^end\b/ },
  elixir: { ...HASH, longQuotes: ['"""'], interpolations: [HASH_BRACE('"', '"""')], blockEnds: /^end\b/ },
  shellscript: { ...HASH, brackets: false, blockEnds: /^(?:fi|done|esac)\b/ },
  powershell: { ...HASH, block: ['<#', '#>'], variableSign: '$' },
  perl: { ...HASH, brackets: false, variableSign: '$' },
  r: HASH,
  yaml: HASH,
  toml: { ...HASH, longQuotes: ['"""', "'''"] },
  dockerfile: HASH,
  makefile: { ...HASH, brackets: false, recipes: true },
  terraform: { ...HASH, interpolations: [DOLLAR_BRACE('"')] },
  sql: { ...DASHES, block: ['/*', '*/'] },
  lua: { ...DASHES, blockEnds: /^end\b/ },
  haskell: { ...DASHES, block: ['{-', '-}'], quotes: '"' },
  clojure: LISP,
  lisp: LISP,
  html: { ...MARKUP, anyCase: true },
  xml: MARKUP,
  vue: MARKUP,
  svelte: MARKUP,
  markdown: PROSE,
  plaintext: { ...PROSE, line: '#' },
  scminput: { ...PROSE, line: '#' },
  'git-commit': { ...PROSE, line: '#' },
  latex: { ...PROSE, line: '%' },
};

/** Languages of which files call or contain each other. */
const RELATED: readonly RegExp[] = [/script|^(?:vue|svelte|html|s?css|less)$/, /^(?:c|cpp)$/];

/** True if files of one language are useful context for the other. */
export function isRelatedLanguage(id: string, other: string): boolean {
  return id === other || RELATED.some((languages) => languages.test(id) && languages.test(other));
}

export function findLanguage(id: string): Language {
  return ownEntry(LANGUAGES, id) ?? UNKNOWN;
}

/** `text` as one comment of the language. */
export function commentLine(language: Language, text: string): string {
  if (language.line !== undefined) return `${language.line} ${text}`;
  const [open, close] = language.block ?? ['#', ''];
  return `${open} ${text} ${close}`.trimEnd();
}
