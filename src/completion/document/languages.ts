import { ownEntry } from '../../base/json.ts';

/** Syntax of a language: comments, brackets and strings. */
export interface Language {
  /** Start of a line comment; `undefined`: use `block`. */
  readonly line?: string;
  readonly block?: readonly [string, string];
  /** Delimiters of strings that end on their line. */
  readonly quotes: string;
  /** Delimiters of strings that may span lines, longest first. */
  readonly longQuotes: readonly string[];
  /** True if brackets outside strings and comments are balanced. */
  readonly brackets: boolean;
  /** Prose: brackets and indentation follow no grammar. */
  readonly prose?: boolean;
}

const C: Language = { line: '//', block: ['/*', '*/'], quotes: `"'`, longQuotes: [], brackets: true };
const SCRIPT: Language = { ...C, longQuotes: ['`'] };
const HASH: Language = { line: '#', quotes: `"'`, longQuotes: [], brackets: true };
/** In these languages, `'` is also a lifetime or a digit separator. */
const ONE_QUOTE: Language = { ...C, quotes: '"' };
const MARKUP: Language = { block: ['<!--', '-->'], quotes: '', longQuotes: [], brackets: false };
const DASHES: Language = { line: '--', quotes: `"'`, longQuotes: [], brackets: true };
const LISP: Language = { line: ';', quotes: '"', longQuotes: [], brackets: true };
const PROSE: Language = { block: ['<!--', '-->'], quotes: '', longQuotes: [], brackets: false, prose: true };
const UNKNOWN: Language = { line: '#', quotes: '', longQuotes: [], brackets: false };

const LANGUAGES: Readonly<Record<string, Language>> = {
  typescript: SCRIPT,
  typescriptreact: { ...SCRIPT, quotes: '"' },
  javascript: SCRIPT,
  javascriptreact: { ...SCRIPT, quotes: '"' },
  go: SCRIPT,
  java: { ...C, longQuotes: ['"""'] },
  kotlin: { ...C, longQuotes: ['"""'] },
  scala: { ...ONE_QUOTE, longQuotes: ['"""'] },
  swift: { ...ONE_QUOTE, longQuotes: ['"""'] },
  c: C,
  cpp: ONE_QUOTE,
  csharp: { ...C, longQuotes: ['"""'] },
  rust: ONE_QUOTE,
  dart: { ...C, longQuotes: ['"""', "'''"] },
  php: C,
  json: { quotes: '"', longQuotes: [], brackets: true },
  jsonc: { ...C, quotes: '"' },
  css: { block: ['/*', '*/'], quotes: `"'`, longQuotes: [], brackets: true },
  scss: C,
  less: C,
  python: { ...HASH, longQuotes: ['"""', "'''"] },
  ruby: HASH,
  elixir: { ...HASH, longQuotes: ['"""'] },
  shellscript: { ...HASH, brackets: false },
  powershell: HASH,
  perl: { ...HASH, brackets: false },
  r: HASH,
  yaml: HASH,
  toml: { ...HASH, longQuotes: ['"""', "'''"] },
  dockerfile: HASH,
  makefile: { ...HASH, brackets: false },
  terraform: HASH,
  sql: { ...DASHES, block: ['/*', '*/'] },
  lua: DASHES,
  haskell: { ...DASHES, quotes: '"' },
  clojure: LISP,
  lisp: LISP,
  html: MARKUP,
  xml: MARKUP,
  vue: MARKUP,
  svelte: MARKUP,
  markdown: PROSE,
  plaintext: { ...PROSE, line: '#' },
  scminput: { ...PROSE, line: '#' },
  'git-commit': { ...PROSE, line: '#' },
  latex: { ...PROSE, line: '%' },
};

export function findLanguage(id: string): Language {
  return ownEntry(LANGUAGES, id) ?? UNKNOWN;
}

/** `text` as one comment of the language. */
export function commentLine(language: Language, text: string): string {
  if (language.line !== undefined) return `${language.line} ${text}`;
  const [open, close] = language.block ?? ['#', ''];
  return `${open} ${text} ${close}`.trimEnd();
}
