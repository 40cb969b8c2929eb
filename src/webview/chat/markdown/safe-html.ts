import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens, type TokensList } from 'marked';
import { BoundedLexer } from './bounded-lexer.ts';

/** What an answer may be made of. No style, no form, no media: see docs/security.md, "The panel". */
const ALLOWED_TAGS = [
  ...['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'a', 'span'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'input'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
];
const ALLOWED_ATTR = ['href', 'title', 'class', 'start', 'align', 'type', 'checked', 'disabled', 'data-language'];
const LINK = /^(?:https?:|mailto:)/i;
/** Ours: an answer can't borrow the looks of the panel's own controls. */
const ALLOWED_CLASSES = new Set(['image-chip', 'task']);

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Controls that turn text around or hide it (Unicode TR 36, "bidirectional text spoofing"): shown, not obeyed. */
const HIDDEN_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

export function showControls(text: string): string {
  return text.replace(HIDDEN_CONTROLS, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase()}⟩`);
}

/** HTML in an answer is shown as the text it is; an image is a chip that names its address and loads nothing. */
const markdown = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    image: ({ href, text }: Tokens.Image) =>
      `<span class="image-chip" title="${escapeHtml(href)}">${escapeHtml(text || 'image')} · ${escapeHtml(hostOf(href))}</span>`,
    code: ({ text, lang, codeBlockStyle }: Tokens.Code) => {
      // marked ends a fence whose last line is empty with one break more than its source has.
      const source = codeBlockStyle !== 'indented' && text.endsWith('\n') ? text.slice(0, -1) : text;
      return `<pre data-language="${escapeHtml(fenceLanguage(lang))}"><code>${escapeHtml(source)}</code></pre>`;
    },
  },
});

/** The first word of a fence's info string. */
export function fenceLanguage(info: string | undefined): string {
  const plain = (info ?? '').trim().replace(/\\([!-/:-@[-`{-~])/g, '$1');
  return plain.split(/\s/, 1)[0] ?? '';
}

function hostOf(href: string): string {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  return url?.host || href.slice(0, 60);
}

DOMPurify.addHook('uponSanitizeAttribute', (_node, attribute) => {
  if (attribute.attrName === 'class' && !ALLOWED_CLASSES.has(attribute.attrValue)) attribute.keepAttr = false;
});

export type { Token };

export type Definitions = TokensList['links'];

/** No prototype: a definition may be named after one of its members. */
export function noDefinitions(): Definitions {
  return Object.create(null);
}

/** Blocks of a text. Links by reference are looked up in `known` too; `links` are those and the text's own. */
export function lex(source: string, known: Definitions = noDefinitions()): TokensList {
  const lexer = new BoundedLexer(markdown.defaults);
  Object.assign(lexer.tokens.links, known);
  return lexer.lex(source);
}

/** Tokens as a fragment that is safe to attach. */
export function render(tokens: Token[]): DocumentFragment {
  return DOMPurify.sanitize(showControls(markdown.parser(tokens)), {
    ALLOWED_TAGS,
    ALLOWED_ATTR,
    ALLOWED_URI_REGEXP: LINK,
    // Values of the others must not be addresses; these never are one.
    ADD_URI_SAFE_ATTR: ['data-language', 'start', 'align', 'type', 'checked', 'disabled'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
}
