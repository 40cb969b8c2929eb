import { defined } from '../../base/json.ts';
import type { DocumentText } from '../document/document-text.ts';
import { findLanguage, type Language } from '../document/languages.ts';
import { indentationOf, withoutStrings } from './code-names.ts';

const MAX_WIDTH = 300;
const MAX_LINES = 1_500;
const MAX_MEMBER = 140;
const MAX_HEADER = 260;
/** Overloads of one method. */
const MAX_OVERLOADS = 2;
const MAX_HEADER_LINES = 30;
/** Of the text that is read before it is shortened. */
const MAX_SIGNATURE = 1_000;
const CONTAINER = /\b(?:class|interface|enum|struct|trait|impl|record|namespace)(?: |$)|[^=!<>]=$|:$|^export default$/;
const PRIVATE = /^(?:private\b|#(?!\[)|__(?!init)|static #)/;
const MODIFIERS =
  /^(?:(?:public|protected|readonly|static|abstract|override|get|set|async|pub|def|export|default|declare|function|const|let|var|class|interface|type|enum|fn|struct|trait|func) +)+|^self\./;
const CONTINUES = /(?:[=|&,(+?:]|=>|->|\b(?:extends|implements|where))\s*$/;
const CONTINUED = /^\s*(?:[|&?:{.]|=>|->|=(?!=)|extends\b|implements\b|where\b)/;

/** A declaration without bodies. */
export interface Outline {
  /** Signature or first line. */
  readonly header: string;
  readonly members: readonly string[];
}

/**
 * The declaration that starts in a line: the signature of a function, the head and the members of a type, the first line
 * of anything else.
 */
export function outlineAt(document: DocumentText, line: number): Outline | undefined {
  const language = findLanguage(document.languageId);
  if (document.lineAt(line).trim() === '') return undefined;
  return language.indentedBlocks === true ? outlineIndented(document, line) : outlineBraces(document, line, language);
}

/** The declarations of a file for others. */
export function outlineModule(document: DocumentText): Outline {
  const members: string[] = [];
  for (let line = 0; line < Math.min(document.lineCount, MAX_LINES); line++) {
    if (!EXPORTED.test(document.lineAt(line).slice(0, MAX_WIDTH))) continue;
    const outline = outlineAt(document, line);
    if (outline !== undefined) members.push(outline.header);
  }
  return { header: '', members };
}

const TYPE = /\p{Lu}[\p{L}\p{N}_$]*/gu;

/** The names of types in a header, and in the members with one of the names. */
export function typesIn({ header, members }: Outline, names: ReadonlySet<string>): readonly string[] {
  const named = members.filter((member) => names.has(memberName(member)));
  return [...new Set([header, ...named].flatMap((text) => text.match(TYPE) ?? []))];
}

export function memberName(member: string): string {
  return /[\p{L}_$][\p{L}\p{N}_$]*/u.exec(member.replace(MODIFIERS, ''))?.[0] ?? '';
}

const DECLARED =
  /^(?:[a-z]+(?:\([a-z]+\))? )*(?:class|interface|type|enum|const|let|var|function\*?|def|fn|struct|trait|func|record) +([\p{L}_$][\p{L}\p{N}_$]*)|^([\p{L}_$][\p{L}\p{N}_$]*) ?(?::[^=]{1,80})?=(?!=)/u;

/** The names that a file declares at its top level, with their lines. */
export function findDeclared(document: DocumentText): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (let line = 0; line < Math.min(document.lineCount, MAX_LINES); line++) {
    const text = document.lineAt(line);
    if (text === '' || /^[\s/*#})\]]/.test(text)) continue;
    const match = DECLARED.exec(text.slice(0, MAX_WIDTH));
    const name = match?.[1] ?? match?.[2];
    if (name !== undefined && !found.has(name)) found.set(name, line);
  }
  return found;
}

/** Of TypeScript, Rust, Python and Go. */
const EXPORTED = /^(?:export (?:default )?(?![*{]|type \{)\w+ |pub |(?:async )?(?:def|class) [^_]|(?:func|type) [A-Z])/;

function outlineBraces(document: DocumentText, line: number, language: Language): Outline {
  const { header, body } = readHeader(document, line, language);
  const isContainer = body !== undefined && CONTAINER.test(header);
  const members = isContainer ? readMembers(document, body, language) : [];
  return { header: shorten(header), members: [...members, ...methodsElsewhere(document, header, language)] };
}

interface At {
  readonly line: number;
  readonly column: number;
}

/** Up to the body of a declaration, or its end. */
function readHeader(document: DocumentText, line: number, language: Language): { header: string; body?: At } {
  let depth = 0;
  let header = '';
  const end = (body?: At) => ({
    header: header.trim().slice(0, MAX_SIGNATURE),
    ...defined({ body }),
  });
  for (let at = line; at < Math.min(document.lineCount, line + MAX_HEADER_LINES); at++) {
    const raw = document.lineAt(at);
    const code = withoutStrings(raw, language);
    for (let column = 0; column < code.length; column++) {
      const character = code[column] ?? '';
      if (character === '{' && depth === 0) return end({ line: at, column });
      if (character === ';' && depth === 0) return end();
      if ('([{'.includes(character)) depth++;
      else if (')]}'.includes(character)) depth--;
      if (depth < 0) return end();
      header += raw[column] ?? '';
    }
    const next = at + 1 < document.lineCount ? document.lineAt(at + 1) : '';
    if (depth === 0 && !CONTINUES.test(code) && !CONTINUED.test(next)) break;
    header = `${header.trim()} `;
  }
  return end();
}

function readMembers(document: DocumentText, body: At, language: Language): string[] {
  const members: string[] = [];
  let depth = 0;
  let current = '';
  /** Inside the body of a method, or a value. */
  let skipping = false;
  let angles = 0;
  const overloads = new Map<string, number>();
  const end = () => {
    const text = current.replace(/\s+/g, ' ').trim();
    const name = /^[^(:=<]*/.exec(text)?.[0] ?? '';
    const seen = overloads.get(name) ?? 0;
    if (/[\p{L}#]/u.test(text) && !PRIVATE.test(text) && !text.startsWith('@') && seen < MAX_OVERLOADS) {
      overloads.set(name, seen + 1);
      members.push(shorten(text, MAX_MEMBER));
    }
    current = '';
    angles = 0;
    skipping = false;
  };
  for (let line = body.line; line < Math.min(document.lineCount, body.line + MAX_LINES); line++) {
    const raw = document.lineAt(line);
    const code = withoutStrings(raw, language);
    for (let column = line === body.line ? body.column : 0; column < code.length; column++) {
      const character = code[column] ?? '';
      const opens = '([{'.includes(character);
      if (opens) depth++;
      if (character === '<' && /[\w$]$/.test(current)) angles++;
      else if (character === '>' && angles > 0 && !/[=-]$/.test(current)) angles--;
      if (depth === 1 && (character === ';' || (character === ',' && angles === 0))) {
        end();
        continue;
      }
      if (depth === 0 || (opens && depth === 1)) continue;
      if (')]}'.includes(character)) depth--;
      if (depth === 0) {
        end();
        return members;
      }
      // The body of a method, but not the properties of an object type.
      if (character === '{' && depth === 2 && !/[:=|&<]\s*$/.test(current)) skipping = true;
      if (!skipping && current.length < MAX_MEMBER) current += raw[column] ?? '';
    }
    const next = line + 1 < document.lineCount ? document.lineAt(line + 1) : '';
    if (
      depth === 1 &&
      angles === 0 &&
      current.trim() !== '' &&
      !CONTINUES.test(current) &&
      (skipping || !CONTINUED.test(next))
    )
      end();
    else current += ' ';
  }
  end();
  return members;
}

/** Methods of a Go type, and traits that a Rust type implements, are outside its declaration. */
function methodsElsewhere(document: DocumentText, header: string, language: Language): string[] {
  const go = document.languageId === 'go' ? /^type (\w+)/.exec(header)?.[1] : undefined;
  const rust = document.languageId === 'rust' ? /\b(?:struct|enum) (\w+)/.exec(header)?.[1] : undefined;
  const name = go ?? rust;
  if (name === undefined) return [];
  const pattern = new RegExp(go === undefined ? `^impl\\b.*\\b${name}\\b` : `^func \\(\\w*\\s*\\*?${name}\\b`);
  const found: string[] = [];
  for (let line = 0; line < Math.min(document.lineCount, MAX_LINES); line++) {
    if (!pattern.test(document.lineAt(line))) continue;
    const { header: signature, body } = readHeader(document, line, language);
    if (go !== undefined) found.push(shorten(signature, MAX_MEMBER));
    else if (body !== undefined) found.push(...readMembers(document, body, language));
  }
  return found;
}

/** Python and others whose blocks are indented. */
function outlineIndented(document: DocumentText, line: number): Outline {
  const header = joinParameters(document, line);
  if (!/^\s*class\b/.test(header)) return { header: shorten(header), members: [] };
  const members: string[] = [];
  const own = indentationOf(document.lineAt(line));
  let inner: number | undefined;
  for (let at = line + 1; at < Math.min(document.lineCount, line + MAX_LINES); at++) {
    const text = document.lineAt(at);
    if (text.trim() === '') continue;
    const depth = indentationOf(text);
    if (depth <= own) {
      if (/^\s*[)\]]/.test(text)) continue;
      break;
    }
    inner ??= depth;
    const field = depth > inner ? /^\s*self\.([A-Za-z]\w*(?:: *[^=]+)?) *=(?!=)/.exec(text)?.[1] : undefined;
    if (field !== undefined && !members.some((each) => each.startsWith(`self.${field}`)))
      members.push(`self.${field.trim()}`);
    if (depth !== inner || !/^\s*(?:(?:async )?def |[A-Za-z]\w* *(?::|=))/.test(text)) continue;
    const member = joinParameters(document, at);
    if (!PRIVATE.test(member.replace(/^(?:async )?def /, ''))) members.push(shorten(member, MAX_MEMBER));
  }
  return { header: shorten(header), members };
}

function joinParameters(document: DocumentText, line: number): string {
  let text = document.lineAt(line).trim();
  for (let at = line + 1; at < Math.min(document.lineCount, line + MAX_HEADER_LINES); at++) {
    if ((text.match(/[([]/g) ?? []).length <= (text.match(/[)\]]/g) ?? []).length) break;
    text += ` ${document.lineAt(at).trim()}`;
  }
  return text;
}

function shorten(text: string, most = MAX_HEADER): string {
  const flat = text.replace(/\s+/g, ' ').replace(/\( /g, '(').replace(/,? \)/g, ')').trim();
  if (flat.length <= most) return flat;
  const value = /^[^(]{20,} = /.exec(flat.slice(0, most))?.[0];
  return value === undefined || /^.{0,9}(?:function|\()/.test(flat.slice(value.length))
    ? flat.slice(0, most)
    : value.slice(0, -3);
}
