import DOMPurify from 'dompurify';
import { Marked, type Tokens } from 'marked';

/** What an answer may be made of. No style, no form, no media: see docs/security.md. */
const ALLOWED_TAGS = [
  ...['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'a', 'span', 'div'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'input'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
];
const ALLOWED_ATTR = ['href', 'title', 'class', 'start', 'align', 'type', 'checked', 'disabled', 'data-language'];
const LINK = /^(?:https?:|mailto:)/i;

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** HTML in an answer is shown as the text it is; an image is a chip that names its host and loads nothing. */
const markdown = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    image: ({ href, text }: Tokens.Image) =>
      `<span class="image-chip" title="${escapeHtml(href)}">${escapeHtml(text || 'image')} · ${escapeHtml(hostOf(href))}</span>`,
    code: ({ text, lang }: Tokens.Code) => {
      const language = (lang ?? '').split(/\s/, 1)[0] ?? '';
      return `<pre data-language="${escapeHtml(language)}"><code>${escapeHtml(text)}</code></pre>`;
    },
  },
});

function hostOf(href: string): string {
  return URL.canParse(href) ? new URL(href).host || href.slice(0, 40) : href.slice(0, 40);
}

export function lex(source: string): readonly Tokens.Generic[] {
  return markdown.lexer(source);
}

/** Tokens as a fragment that is safe to attach. */
export function render(tokens: readonly Tokens.Generic[]): DocumentFragment {
  const html = markdown.parser([...tokens] as Parameters<typeof markdown.parser>[0]);
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS,
    ALLOWED_ATTR,
    ALLOWED_URI_REGEXP: LINK,
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
}
