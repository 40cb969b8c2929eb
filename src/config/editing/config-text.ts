import { createScanner, getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';

/** Token kinds of jsonc-parser. Its const enum has no values at run time. */
const COMMA = 5;
const LINE_BREAK = 14;
const END = 17;

/** @throws UnreadableFile if the nesting exceeds the stack, because `jsonc-parser` recurses for each level. */
function readTree(content: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(content, errors, READING);
  } catch (error) {
    if (error instanceof RangeError) throw new UnreadableFile('The file is nested too deeply.');
    throw error;
  }
}

/** The file can't be changed because it can't be parsed. */
export class UnreadableFile extends Error {}

/** Accept the same comments and trailing commas as the loader. */
const READING = { allowTrailingComma: true, allowEmptyContent: true };

/**
 * Edits a svc.jsonc as text, one value at a time. All other characters are preserved. `modify` of jsonc-parser is not
 * used, because it reformats the neighbours and moves their comments.
 */
export class ConfigText {
  #text: string;
  /** The parsed text. Absent after a change of the text. */
  #root: Node | undefined;
  readonly #bom: string;
  readonly #unit: string;
  readonly #eol: string;

  /** @throws UnreadableFile if the text is not a JSONC object. */
  constructor(text: string) {
    this.#bom = text.startsWith('\uFEFF') ? '\uFEFF' : '';
    const content = text.slice(this.#bom.length);
    this.#unit = /^([ \t]+)["}/]/m.exec(content)?.[1] ?? '  ';
    this.#eol = content.includes('\r\n') ? '\r\n' : '\n';
    const errors: ParseError[] = [];
    const root = readTree(content, errors);
    if (errors.length > 0) throw new UnreadableFile('The file is not valid JSONC. Correct it first.');
    if (root === undefined) this.#text = `${content.trim() === '' ? '' : content.trimEnd() + this.#eol}{}${this.#eol}`;
    else if (root.type !== 'object') throw new UnreadableFile('The file must be one object, { … }.');
    else {
      this.#text = content;
      this.#root = root;
    }
  }

  toString(): string {
    return this.#bom + this.#text;
  }

  /** The value at a path, `undefined` if it does not exist. */
  get(path: readonly string[]): unknown {
    const node = this.#node(path);
    return node && getNodeValue(node);
  }

  /** Sets a value and creates missing parent objects. `undefined` removes the key, also if it is duplicated. */
  set(path: readonly string[], value: unknown): this {
    const node = this.#node(path);
    if (value === undefined) this.#removeAll(path);
    else if (node === undefined) this.#insert(path, value);
    else if (JSON.stringify(getNodeValue(node)) !== JSON.stringify(value)) {
      this.#splice(node.offset, node.offset + node.length, this.#written(value, this.#indentAt(node.offset)));
    }
    return this;
  }

  /**
   * Renames keys of the object at a path, all at once, so that keys can be swapped. Everything else is preserved, except
   * that another property which already has a new key is removed.
   *
   * @param names the new keys by the present ones.
   */
  rename(path: readonly string[], names: ReadonlyMap<string, string>): this {
    const members = this.#members(path);
    const taken = new Set(members.map((member) => names.get(keyOf(member))));
    for (const member of members.toReversed()) {
      const name = names.get(keyOf(member));
      if (name !== undefined) this.#writeKey(member, name);
      else if (taken.has(keyOf(member))) this.#remove(member);
    }
    return this;
  }

  #writeKey(member: Node, name: string): void {
    const [key] = member.children ?? [];
    if (key !== undefined && key.value !== name) {
      this.#splice(key.offset, key.offset + key.length, JSON.stringify(name));
    }
  }

  /** Finds a node. If a key is duplicated, the last one is used, as in the loader. */
  #node(path: readonly string[]): Node | undefined {
    this.#root ??= parseTree(this.#text, [], READING);
    let node = this.#root;
    for (const key of path) {
      if (node?.type !== 'object') return undefined;
      node = node.children?.findLast((member) => keyOf(member) === key)?.children?.[1];
    }
    return node;
  }

  /** The properties of the object at a path. */
  #members(path: readonly string[]): readonly Node[] {
    const node = this.#node(path);
    return node?.type === 'object' ? (node.children ?? []) : [];
  }

  #insert(path: readonly string[], value: unknown): void {
    let depth = path.length - 1;
    let parent = this.#node(path.slice(0, depth));
    while (parent === undefined && depth > 0) parent = this.#node(path.slice(0, --depth));
    if (parent === undefined) return;
    const nested = path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    const key = path[depth] ?? '';
    // A scalar or `null` is replaced if a parent object is needed.
    if (parent.type !== 'object') this.set(path.slice(0, depth), { [key]: nested });
    else this.#insertInto(parent, key, nested);
  }

  #insertInto(object: Node, key: string, value: unknown): void {
    const last = object.children?.at(-1);
    const close = object.offset + object.length - 1;
    const inside = this.#text.slice(object.offset, close);
    const outer = this.#indentAt(object.offset);
    if (last !== undefined && !inside.includes('\n') && !isContainer(value)) {
      this.#splice(
        last.offset + last.length,
        last.offset + last.length,
        `, ${property(key, this.#written(value, ''))}`,
      );
      return;
    }
    const indent = last === undefined ? outer + this.#unit : this.#ownIndent(last, outer);
    const line = indent + property(key, this.#written(value, indent));
    if (last === undefined) this.#insertBeforeClose(close, line, outer);
    else this.#insertAfter(last, line, outer, close);
  }

  /** Inserts into an object without keys. Comments in it remain before the new key. */
  #insertBeforeClose(close: number, line: string, outer: string): void {
    const start = this.#text.slice(0, close).trimEnd().length;
    this.#splice(start, close, `${this.#eol}${line}${this.#eol}${outer}`);
  }

  /** Inserts after the last key and the comment on its line. */
  #insertAfter(last: Node, line: string, outer: string, close: number): void {
    const end = last.offset + last.length;
    const comma = this.#commaAfter(end);
    const lineEnd = this.#endOfLine(comma === undefined ? end : comma + 1, close);
    const sameLine = lineEnd === close;
    const tail = sameLine ? `${this.#eol}${outer}` : '';
    const trailing = comma === undefined ? '' : ',';
    this.#splice(lineEnd, sameLine ? close : lineEnd, `${this.#eol}${line}${trailing}${tail}`);
    if (comma === undefined) this.#splice(end, end, ',');
  }

  /** Removes all properties with the key, because an earlier one would have an effect after the last one is removed. */
  #removeAll(path: readonly string[]): void {
    const members = this.#members(path.slice(0, -1)).filter((member) => keyOf(member) === path.at(-1));
    for (const member of members.toReversed()) this.#remove(member);
  }

  /** Removes a property. The text before it does not change, except for a comma, so that offsets there remain valid. */
  #remove(node: Node): void {
    const end = node.offset + node.length;
    const comma = this.#commaAfter(end);
    this.#cut(node.offset, comma === undefined ? end : comma + 1);
    const siblings = node.parent?.children ?? [];
    const before = siblings[siblings.indexOf(node) - 1];
    if (comma !== undefined || before === undefined) return;
    const dangling = this.#commaAfter(before.offset + before.length);
    if (dangling !== undefined) this.#splice(dangling, dangling + 1, '');
  }

  /** Removes a range, and its line if nothing else is on it. */
  #cut(start: number, end: number): void {
    const lineStart = this.#text.lastIndexOf('\n', start - 1) + 1;
    const next = this.#text.indexOf('\n', end);
    const alone =
      this.#text.slice(lineStart, start).trim() === '' && next !== -1 && this.#text.slice(end, next).trim() === '';
    if (alone) this.#splice(lineStart, next + 1, '');
    else this.#splice(start, end + (/^ +/.exec(this.#text.slice(end))?.[0].length ?? 0), '');
  }

  /** The offset of the comma after a value. Comments are skipped. */
  #commaAfter(offset: number): number | undefined {
    const scanner = createScanner(this.#text, true);
    scanner.setPosition(offset);
    return scanner.scan() === COMMA ? scanner.getTokenOffset() : undefined;
  }

  /** The end of the line, including its comments, or `close` if the closing brace is on the same line. */
  #endOfLine(offset: number, close: number): number {
    const scanner = createScanner(this.#text, false);
    scanner.setPosition(offset);
    for (;;) {
      const token = scanner.scan();
      if (token === LINE_BREAK) return scanner.getTokenOffset();
      if (token === END || scanner.getTokenOffset() >= close) return close;
    }
  }

  /** The indentation of the line that contains the offset. */
  #indentAt(offset: number): string {
    const start = this.#text.lastIndexOf('\n', offset - 1) + 1;
    return /^[ \t]*/.exec(this.#text.slice(start, offset))?.[0] ?? '';
  }

  /** The indentation of a key that starts its line. */
  #ownIndent(node: Node, outer: string): string {
    const indent = this.#indentAt(node.offset);
    const start = this.#text.lastIndexOf('\n', node.offset - 1) + 1;
    return start + indent.length === node.offset ? indent : outer + this.#unit;
  }

  #written(value: unknown, indent: string): string {
    return JSON.stringify(value, null, this.#unit).replaceAll('\n', this.#eol + indent);
  }

  #splice(start: number, end: number, text: string): void {
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
    this.#root = undefined;
  }
}

function keyOf(member: Node): string {
  return String(member.children?.[0]?.value);
}

function property(key: string, written: string): string {
  return `${JSON.stringify(key)}: ${written}`;
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
