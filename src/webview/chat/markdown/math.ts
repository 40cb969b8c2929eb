import DOMPurify from 'dompurify';
import type { TokenizerAndRendererExtension, Tokens } from 'marked';

/** Longer formulas are shown as text. */
const MAX_FORMULA = 2000;

interface Formula {
  readonly raw: string;
  readonly tex: string;
  readonly display: boolean;
}

/** Delimiters, longest first: a `$$` is not two `$`. */
const DELIMITERS = [
  { open: '$$', close: '$$', display: true },
  { open: '\\[', close: '\\]', display: true },
  { open: '\\(', close: '\\)', display: false },
  { open: '$', close: '$', display: false },
] as const;

/** Formulas in paragraphs: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`. The renderer writes the source; `drawMath` draws it. */
export const mathExtension: TokenizerAndRendererExtension = {
  name: 'math',
  level: 'inline',
  start: (source: string) => {
    const at = source.search(/\$|\\[([]/);
    return at === -1 ? undefined : at;
  },
  tokenizer: (source: string) => {
    const formula = readFormula(source);
    return formula && { type: 'math', raw: formula.raw, text: formula.tex, display: formula.display };
  },
  renderer: (token: Tokens.Generic) => {
    const text = String(token.raw).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return `<span class="${token.display ? 'math display' : 'math'}">${text}</span>`;
  },
};

/** Reads a formula at the start of a text. */
function readFormula(source: string): Formula | undefined {
  const delimiter = DELIMITERS.find(({ open }) => source.startsWith(open));
  if (!delimiter) return undefined;
  const { open, close, display } = delimiter;
  const end = endOfFormula(source, open.length, close);
  if (end === -1) return undefined;
  const tex = source.slice(open.length, end);
  const raw = source.slice(0, end + close.length);
  if (tex.trim() === '') return undefined;
  // Text in escaped brackets, such as `\\[link\\](…)`, and process ids of a shell (`$$`).
  if (isProse(tex) || (open === '\\[' && source.startsWith('(', raw.length))) return undefined;
  if (open === '$' && !isInDollars(tex, source.charAt(raw.length))) return undefined;
  return { raw, tex, display };
}

/** Words without a sign of TeX. */
function isProse(tex: string): boolean {
  return !TEX.test(tex) && /\p{L}{2}[,.;:]?\s|\s\p{L}{2}/u.test(tex);
}

const TEX = /[\\^_=+*/{}<>|&]/;

/**
 * Whether a text between dollar signs is a formula: neither prices (“$5 and $10”) nor code (`$HOME/bin:$PATH`,
 * `${a}/${b}`). The first rule is Pandoc's (tex_math_dollars).
 */
function isInDollars(tex: string, afterwards: string): boolean {
  if (/^\s|\s$|\n/.test(tex) || /[\d\p{L}({_[?!@#]/u.test(afterwards)) return false;
  if (tex.includes('`')) return false;
  // A price, and words or another number after it.
  if (/^\d[\d.,]*(?:[kKmMbB]\b)?(?:\s*[,;:(–-]\s|\s+\p{L}{2,}|[,;:]?\s+\()/u.test(tex) && !/[\\^_=]/.test(tex))
    return false;
  // A variable of a shell, and more after it.
  return !/^[A-Z_][A-Z0-9_]{2,}[^\w]/.test(tex) || /[\\^={]/.test(tex);
}

function endOfFormula(source: string, from: number, close: string): number {
  const limit = Math.min(source.length, from + MAX_FORMULA);
  for (let at = from; at < limit; at++) {
    if (source.startsWith(close, at)) return at;
    if (source[at] === '\\') at++;
    else if (close === '$' && source[at] === '\n') return -1;
  }
  return -1;
}

type Renderer = (tex: string, display: boolean) => string;
let loaded: Promise<Renderer> | undefined;

/** Draws the formulas of an element. Keeps the source of those that KaTeX can't read. */
export function drawMath(root: ParentNode): void {
  const formulas = root.querySelectorAll<HTMLElement>('span.math:not(.drawn)');
  if (formulas.length === 0) return;
  loaded ??= import('./math-renderer.ts').then(({ renderMath }) => renderMath);
  void loaded.then((renderMath) => {
    for (const formula of formulas) if (formula.isConnected) drawFormula(formula, renderMath);
  });
}

function drawFormula(formula: HTMLElement, renderMath: Renderer): void {
  const source = readFormula(formula.textContent ?? '');
  formula.classList.add('drawn');
  if (!source) return;
  try {
    const html = renderMath(source.tex, source.display);
    formula.replaceChildren(DOMPurify.sanitize(html, { USE_PROFILES: { mathMl: true }, RETURN_DOM_FRAGMENT: true }));
    formula.title = source.tex;
  } catch {
    // Not valid TeX: the source stays.
  }
}
