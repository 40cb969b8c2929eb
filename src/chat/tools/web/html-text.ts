import { Tokenizer } from 'htmlparser2';
import { splitWords } from '../../../base/split-words.ts';

const SKIPPED = new Set(splitWords('script style noscript template svg head iframe object canvas select button'));
const BLOCKS = new Set(
  splitWords(`
    p div section article main header footer nav aside ul ol table tr pre blockquote h1 h2 h3 h4 h5 h6 li dl dt dd
    figure figcaption form hr br
  `),
);

/** The readable text of a web page: headings, lists, code and links as in Markdown. Takes linear time. */
export function htmlText(html: string): { readonly title: string; readonly text: string } {
  const writer = new TextWriter();
  readTags(html, writer);
  return { title: writer.title.trim(), text: writer.result() };
}

/** Without the package's `Parser`, whose stack of open elements takes quadratic time. */
function readTags(html: string, writer: TextWriter): void {
  let tag = '';
  let attribute = '';
  let href = '';
  const ignore = () => undefined;
  const open = () => writer.open(tag, href);
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname: (start, end) => {
        tag = html.slice(start, end).toLowerCase();
        href = '';
      },
      onattribname: (start, end) => {
        attribute = html.slice(start, end).toLowerCase();
      },
      onattribdata: (start, end) => {
        if (attribute === 'href') href += html.slice(start, end);
      },
      onattribentity: (code) => {
        if (attribute === 'href') href += String.fromCodePoint(code);
      },
      onattribend: ignore,
      onopentagend: open,
      onselfclosingtag: open,
      onclosetag: (start, end) => writer.close(html.slice(start, end).toLowerCase()),
      ontext: (start, end) => writer.text(html.slice(start, end)),
      ontextentity: (code) => writer.text(String.fromCodePoint(code)),
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
}

class TextWriter {
  readonly #parts: string[] = [];
  readonly #links: string[] = [];
  #skipped = 0;
  #preformatted = 0;
  #inTitle = false;
  title = '';

  open(name: string, href: string): void {
    if (name === 'title') this.#inTitle = true;
    if (SKIPPED.has(name)) this.#skipped += 1;
    if (this.#skipped > 0) return;
    if (BLOCKS.has(name)) this.#parts.push('\n');
    if (/^h[1-6]$/.test(name)) this.#parts.push(`\n${'#'.repeat(Number(name[1]))} `);
    else if (name === 'li') this.#parts.push('- ');
    else if (name === 'td' || name === 'th') this.#parts.push(' | ');
    else if (name === 'pre') {
      this.#preformatted += 1;
      this.#parts.push('```\n');
    } else if (name === 'a') this.#links.push(/^https?:\/\//.test(href) ? href : '');
  }

  close(name: string): void {
    if (name === 'title') this.#inTitle = false;
    if (SKIPPED.has(name)) {
      this.#skipped = Math.max(0, this.#skipped - 1);
      return;
    }
    if (this.#skipped > 0) return;
    if (name === 'a') {
      const href = this.#links.pop();
      if (href) this.#parts.push(` (${href})`);
    }
    if (name === 'pre' && this.#preformatted > 0) {
      this.#preformatted -= 1;
      this.#parts.push('\n```');
    }
    if (BLOCKS.has(name)) this.#parts.push('\n');
  }

  text(text: string): void {
    if (this.#inTitle) {
      if (this.title.length < 300) this.title += text;
    } else if (this.#skipped === 0) this.#parts.push(this.#preformatted > 0 ? text : text.replace(/\s+/g, ' '));
  }

  result(): string {
    const lines: string[] = [];
    for (const line of this.#parts.join('').split('\n')) {
      const trimmed = line.trimEnd();
      if (trimmed.trim() !== '' || lines.at(-1) !== '') lines.push(trimmed.trim() === '' ? '' : trimmed);
    }
    return lines.join('\n').trim();
  }
}
