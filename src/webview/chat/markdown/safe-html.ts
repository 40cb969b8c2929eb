import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens, type TokensList } from 'marked';
import { FenceEnd, readFence, unindented } from '../../../base/fences.ts';
import { splitWords } from '../../../base/split-words.ts';
import { readPathLink } from '../../../chat/page/path-link.ts';
import { BoundedLexer } from './bounded-lexer.ts';
import { mathExtension } from './math.ts';

/** Elements that are allowed in an answer. No styles, forms or media: see docs/security.md, "The panel". */
const ALLOWED_TAGS = splitWords(`
  p br hr strong em del code pre blockquote a span kbd sub sup h1 h2 h3 h4 h5 h6 ul ol li input table thead tbody tr
  th td
`);
const ALLOWED_ATTR = [
  'href',
  'title',
  'class',
  'start',
  'align',
  'type',
  'checked',
  'disabled',
  'data-language',
  'data-file',
  'data-path',
];
const LINK = /^(?:https?:|mailto:)/i;
/** Only these classes, so that an answer cannot imitate controls of the panel. */
const ALLOWED_CLASSES = new Set(['image-chip', 'task', 'math', 'math display']);
/** Tags without attributes that an answer may use. */
const PLAIN_TAG = /^<(?:br|\/?(?:kbd|sub|sup))\s*\/?>$/i;

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Characters that reverse text (Unicode TR 36, "bidirectional text spoofing"). They are shown, not applied. */
const HIDDEN_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

export function showControls(text: string): string {
  return text.replace(HIDDEN_CONTROLS, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase()}⟩`);
}

/**
 * HTML in an answer is shown as text, except a few tags without attributes. An image is shown as a chip with its
 * address and is not loaded. The tooltip of a link is its address, never a text of the model.
 */
const markdown = new Marked({
  gfm: true,
  extensions: [mathExtension],
  tokenizer: { fences: readNestedFence },
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => (PLAIN_TAG.test(text.trim()) ? text : escapeHtml(text)),
    link({ href, tokens }: Tokens.Link) {
      const text = this.parser.parseInline(tokens);
      if (LINK.test(href) && URL.canParse(href)) {
        const address = escapeHtml(new URL(href).href);
        return `<a href="${address}" title="${address}">${text}</a>`;
      }
      return `<a${pathMark(decodePath(href))}>${text}</a>`;
    },
    codespan: ({ text }: Tokens.Codespan) => `<code${pathMark(text)}>${escapeHtml(text)}</code>`,
    image: ({ href, text }: Tokens.Image) =>
      `<span class="image-chip" title="${escapeHtml(href)}">${escapeHtml(text || 'image')} · ${escapeHtml(linkHost(href))}</span>`,
    code: ({ text, lang, codeBlockStyle }: Tokens.Code) => {
      // If the last line of a fence is empty, marked adds a line break that the source does not have.
      const source = codeBlockStyle !== 'indented' && text.endsWith('\n') ? text.slice(0, -1) : text;
      return `<pre data-language="${escapeHtml(fenceLanguage(lang))}" data-file="${escapeHtml(fenceFile(lang))}"><code>${escapeHtml(source)}</code></pre>`;
    },
  },
});

/** A block of Markdown with fences of its own. `false`: `marked` reads the block. */
function readNestedFence(source: string): Tokens.Code | false {
  const [first = '', ...lines] = source.split('\n');
  const fence = readFence(first);
  if (fence === undefined) return false;
  const end = new FenceEnd(fence);
  const at = lines.findIndex((line, index) => end.closes(line, lines[index + 1]));
  if (!end.nested) return false;
  const closed = at !== -1;
  const raw = [first, ...(closed ? lines.slice(0, at + 1) : lines)].join('\n');
  const text = (closed ? lines.slice(0, at) : lines).map((line) => unindented(line, fence)).join('\n');
  return { type: 'code', raw, lang: fence.info, text };
}

/** The language of a fence: the first word of its info string. */
export function fenceLanguage(info: string | undefined): string {
  const plain = (info ?? '').trim().replace(/\\([!-/:-@[-`{-~])/g, '$1');
  return plain.split(/\s/, 1)[0] ?? '';
}

/** The path that an info string names: `ts src/app.ts`, `ts title="src/app.ts"`, `ts:src/app.ts`, `src/app.ts`. */
export function fenceFile(info: string | undefined): string {
  const words = (info ?? '')
    .trim()
    .split(/[\s:=]+/, 8)
    .map((word) => word.replace(/^["'{(]|["'})]$/g, ''));
  return words.find((word) => /[\p{L}\p{N}_]\.\w{1,12}$/u.test(word) && readPathLink(word) !== undefined) ?? '';
}

/** Marks a text that may be a path of the workspace. `PathLinks` makes it a link if the file exists. */
function pathMark(text: string): string {
  return readPathLink(text) === undefined ? '' : ` data-path="${escapeHtml(text.trim())}"`;
}

function decodePath(href: string): string {
  try {
    return decodeURI(href);
  } catch {
    return href;
  }
}

function linkHost(href: string): string {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  return url?.host || href.slice(0, 60);
}

DOMPurify.addHook('uponSanitizeAttribute', (_node, attribute) => {
  if (attribute.attrName === 'class' && !ALLOWED_CLASSES.has(attribute.attrValue)) attribute.keepAttr = false;
});

export type { Token };

export type Definitions = TokensList['links'];

/** Without a prototype, because a definition may have the name of an inherited member. */
export function noDefinitions(): Definitions {
  return Object.create(null);
}

/** Parses a text into blocks. Reference links may use `known` definitions. `links` of the result includes them. */
export function lex(source: string, known: Definitions = noDefinitions()): TokensList {
  const lexer = new BoundedLexer(markdown.defaults);
  Object.assign(lexer.tokens.links, known);
  return lexer.lex(source);
}

/** Renders tokens as a sanitized fragment. */
export function render(tokens: Token[]): DocumentFragment {
  return DOMPurify.sanitize(showControls(markdown.parser(tokens)), {
    ALLOWED_TAGS: [...ALLOWED_TAGS],
    ALLOWED_ATTR,
    ALLOWED_URI_REGEXP: LINK,
    // These attributes never contain addresses. The values of others are checked.
    ADD_URI_SAFE_ATTR: ['data-language', 'data-file', 'data-path', 'start', 'align', 'type', 'checked', 'disabled'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
}
