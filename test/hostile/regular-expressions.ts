import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { type AnyNode, parse } from 'acorn';
import { transformSync } from 'esbuild';
import { ROOT } from '../docs/pages.ts';

/** Every regular expression that is written as a literal in the source, once, with a file that has it. */
export function regularExpressions(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const file of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(file)) continue;
    const source = readFileSync(join(ROOT, 'src', file), 'utf8');
    const { code } = transformSync(source, { loader: file.endsWith('x') ? 'tsx' : 'ts', jsx: 'automatic' });
    for (const literal of literals(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }))) {
      found.set(literal, `src/${file}`);
    }
  }
  return found;
}

function* literals(node: AnyNode): Generator<string> {
  if (node.type === 'Literal' && node.regex) yield `/${node.regex.pattern}/${node.regex.flags}`;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && 'type' in child) yield* literals(child);
    }
  }
}

/** Texts of about `size` characters that make a backtracking search start again and again, if it does. */
export function attacks(pattern: RegExp, size: number): readonly string[] {
  const parsed = new RegExpParser().parsePattern(pattern.source, 0, pattern.source.length, {
    unicode: pattern.flags.includes('u'),
    unicodeSets: pattern.flags.includes('v'),
  });
  const pumps = new Set<string>();
  const prefixes = new Set<string>(['']);
  for (const alternative of parsed.alternatives) visit(alternative, '', pumps, prefixes);
  const texts: string[] = [];
  const full = (piece: string) => piece.repeat(Math.ceil(size / piece.length));
  for (const end of ['', '\u0001', '\n\u0001']) {
    for (const pump of pumps) for (const prefix of prefixes) texts.push(prefix + full(pump) + end);
  }
  for (const prefix of prefixes) {
    if (prefix === '') continue;
    for (const between of ['', '-', ' ', '.', '/']) texts.push(`${full(prefix + between)}\u0001`);
  }
  return texts;
}

/** Collects what quantifiers repeat, and what comes before them, as sample texts. */
function visit(node: AST.Alternative, before: string, pumps: Set<string>, prefixes: Set<string>): string {
  let text = before;
  for (const element of node.elements) {
    if (element.type === 'Quantifier') {
      const sample = sampleOf(element.element);
      if (element.max > 20 && sample !== '') {
        pumps.add(sample);
        if (text.length < 60) prefixes.add(text);
      }
    }
    if (element.type === 'Group' || element.type === 'CapturingGroup') {
      for (const inner of element.alternatives) visit(inner, text, pumps, prefixes);
    }
    text += sampleOf(element);
  }
  if (text.length < 60) prefixes.add(text);
  return text;
}

function sampleOf(node: AST.Element): string {
  switch (node.type) {
    case 'Character':
      return String.fromCodePoint(node.value);
    case 'Quantifier':
      return sampleOf(node.element).repeat(Math.min(node.min, 20));
    case 'Group':
    case 'CapturingGroup':
      return (node.alternatives[0]?.elements ?? []).map(sampleOf).join('');
    case 'CharacterSet':
      return node.kind === 'digit' ? '1' : node.kind === 'space' ? ' ' : 'a';
    case 'CharacterClass':
      return classSample(node);
    default:
      return '';
  }
}

/** A character that a class holds: tried, since classes hold ranges, sets and their opposites. */
function classSample(node: AST.CharacterClass): string {
  const matches = new RegExp(node.raw, node.unicodeSets ? 'v' : 'u');
  return [...'a1/-. `~\\{"A_:\n\u001b\u202a\ud83d\u0001'].find((candidate) => matches.test(candidate)) ?? '';
}
