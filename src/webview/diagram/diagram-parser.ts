/**
 * The part of `@mermaid-js/parser` that is used: pie charts and Git graphs. The package contains a generator of parsers
 * that is larger than the rest of Mermaid. Grammars: packages/parser/src/language/{pie,gitGraph,common} of Mermaid 11.
 */

/** Values of a statement by name. */
type Statement = Readonly<Record<string, unknown>>;

export interface ParsedDiagram {
  readonly title?: string;
  readonly accTitle?: string;
  readonly accDescr?: string;
  readonly showData?: boolean;
  readonly sections?: readonly { readonly label: string; readonly value: number }[];
  readonly dir?: string;
  readonly statements?: readonly Statement[];
}

/** @throws Error with the line of the mistake. */
export async function parse(kind: string, text: string): Promise<ParsedDiagram> {
  const lines = new Lines(text);
  if (kind === 'pie') return parsePie(lines);
  if (kind === 'gitGraph') return parseGitGraph(lines);
  throw new Error('Diagrams of this kind are not drawn.');
}

const STRING = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'`;
const SECTION = new RegExp(`^(${STRING})\\s*:\\s*(-?\\d+(?:\\.\\d+)?)$`);
const ATTRIBUTE = new RegExp(`^(id:|msg:|tag:|type:|parent:|order:)?\\s*(${STRING}|[\\w.-]+)\\s*`);
const NAME = new RegExp(`^(?:(${STRING})|(\\w(?:[-./\\w]*[-\\w])?))\\s*`);

function parsePie(lines: Lines): ParsedDiagram {
  const head = lines.head(/^pie(?:\s+(showData)\b)?\s*/);
  const sections: { label: string; value: number }[] = [];
  lines.read((line) => {
    const [, label = '', value] = SECTION.exec(line) ?? [];
    if (value === undefined) return false;
    sections.push({ label: unquote(label), value: Number(value) });
    return true;
  });
  return { ...lines.titles, showData: head[1] !== undefined, sections };
}

/** The attributes that a statement may have. A text without a name is the message of a commit. */
const STATEMENTS: Readonly<Record<string, { readonly type: string; readonly name?: string; readonly may: string }>> = {
  commit: { type: 'Commit', may: 'id msg tag type' },
  branch: { type: 'Branch', name: 'name', may: 'order' },
  merge: { type: 'Merge', name: 'branch', may: 'id tag type' },
  checkout: { type: 'Checkout', name: 'branch', may: '' },
  switch: { type: 'Checkout', name: 'branch', may: '' },
  'cherry-pick': { type: 'CherryPicking', may: 'id tag parent' },
};

function parseGitGraph(lines: Lines): ParsedDiagram {
  const head = lines.head(/^gitGraph(?:\s+(LR|TB|BT)\s*:|\s*:)?\s*/);
  const statements: Statement[] = [];
  lines.read((line) => {
    const statement = parseStatement(line);
    if (statement === undefined) return false;
    statements.push(statement);
    return true;
  });
  return { ...lines.titles, ...(head[1] === undefined ? {} : { dir: head[1] }), statements };
}

function parseStatement(line: string): Statement | undefined {
  const word = /^[a-z-]+/.exec(line)?.[0] ?? '';
  const known = Object.hasOwn(STATEMENTS, word) ? STATEMENTS[word] : undefined;
  if (known === undefined) return undefined;
  let rest = line.slice(word.length).trimStart();
  const tags: string[] = [];
  const found: Record<string, unknown> = { $type: known.type };
  if (known.name !== undefined) {
    const name = NAME.exec(rest);
    if (name === null) return undefined;
    found[known.name] = name[1] === undefined ? name[2] : unquote(name[1]);
    rest = rest.slice(name[0].length);
  }
  while (rest !== '') {
    const [all, key = 'msg:', value = ''] = ATTRIBUTE.exec(rest) ?? [];
    const name = key.slice(0, -1);
    const isText = /^["']/.test(value);
    if (all === undefined || !known.may.split(' ').includes(name)) return undefined;
    if (
      name === 'type'
        ? !/^(?:NORMAL|REVERSE|HIGHLIGHT)$/.test(value)
        : name === 'order'
          ? !/^\d+$/.test(value)
          : !isText
    )
      return undefined;
    if (name === 'tag') tags.push(unquote(value));
    else if (name === 'order') found.order = Number(value);
    else found[name === 'msg' ? 'message' : name] = isText ? unquote(value) : value;
    rest = rest.slice(all.length);
  }
  return { ...found, ...(tags.length > 0 ? { tags } : {}) };
}

function unquote(text: string): string {
  return text.slice(1, -1);
}

/** The lines of a diagram, without titles, which all kinds have. */
class Lines {
  readonly titles: { title?: string; accTitle?: string; accDescr?: string } = {};
  readonly #lines: string[];
  #at = 0;

  constructor(text: string) {
    this.#lines = text.split('\n');
  }

  /** Reads the start of the first line that is not blank. The rest of that line is read with the others. */
  head(pattern: RegExp): RegExpExecArray {
    while ((this.#lines[this.#at] ?? '').trim() === '' && this.#at < this.#lines.length) this.#at += 1;
    const line = (this.#lines[this.#at] ?? '').trim();
    const found = pattern.exec(line);
    if (found === null) throw this.#mistake(line);
    this.#lines[this.#at] = line.slice(found[0].length);
    return found;
  }

  read(accept: (line: string) => boolean): void {
    for (; this.#at < this.#lines.length; this.#at += 1) {
      const line = (this.#lines[this.#at] ?? '').replace(/%%.*$/, '').trim();
      if (line !== '' && !this.#title(line) && !accept(line)) throw this.#mistake(line);
    }
  }

  #title(line: string): boolean {
    const [, name, text = ''] = /^(title|accTitle|accDescr)\b\s*:?\s*(.*)$/.exec(line) ?? [];
    if (name === 'title' || name === 'accTitle') this.titles[name] = text;
    else if (name === 'accDescr') this.titles.accDescr = text.startsWith('{') ? this.#block(text.slice(1)) : text;
    return name !== undefined;
  }

  /** A description in braces may have several lines. */
  #block(first: string): string {
    const parts = [first];
    while (!parts.at(-1)?.includes('}') && this.#at + 1 < this.#lines.length) {
      this.#at += 1;
      parts.push(this.#lines[this.#at] ?? '');
    }
    return parts.join('\n').split('}', 1)[0]?.trim() ?? '';
  }

  #mistake(line: string): Error {
    return new Error(`Parse error on line ${this.#at + 1}: ${line.slice(0, 100)}`);
  }
}
