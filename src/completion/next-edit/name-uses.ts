import type { Token } from './line-tokens.ts';

/** Words before a name that is used. After any other word, a name may be declared: `int total`, `def total`. */
const BEFORE_USE = new Set(
  `and assert await delete do echo elif else elsif if in instanceof is new not of or print puts raise return then throw
   typeof unless until while yield`.split(/\s+/),
);
/** Words after a name that is used. Before any other word or value, a name may be declared: `total int`. */
const AFTER_USE = new Set('and as do else for if in instanceof is not of or then unless'.split(' '));
/** First words of statements that declare nothing, except for parameters of a lambda. */
const STATEMENTS = new Set(
  'assert elif else elsif for foreach if raise return switch throw unless until while yield'.split(' '),
);
/** A name after one of these words on the same line may be a parameter, a member or an import. */
const DECLARATIONS = new Set(
  `as case catch class constructor def enum except export fn from fun func function global import interface lambda match
   nonlocal proc rescue struct sub type`.split(/\s+/),
);
/** Up to the value, the names after one of these words are declared: `const { total } = …`, `for i, total in …`. */
const BINDINGS = new Set('auto const for foreach let local my val var'.split(' '));
/** Before a name without a space, these signs may be a part of a type, of a tag or of another name. */
const SPACED = '*&<>/%-^|';

/** True if a name can only be the use of a variable, not a declaration, parameter, key, or argument with a name. */
export function isPlainUse(tokens: readonly Token[], at: number): boolean {
  if (tokens.some((_, index) => isQuote(tokens, index) || isBar(tokens, index))) return false;
  const before = tokens.slice(0, at);
  if (before.some(({ text }) => DECLARATIONS.has(text)) || isBinding(before)) return false;
  if (!isUseByPrevious(tokens, at) || !isUseByNext(tokens, at)) return false;
  return bracketsAround(tokens, at).every((pair) => !mayDeclare(tokens, pair));
}

/** True if the first tokens of a line declare the name after them up to the end of the lines with this indentation. */
export function declaresNext(before: readonly Token[], next: Token | undefined): boolean {
  const last = before.at(-1);
  if (last === undefined) return next?.text === '=' || next?.text === ':';
  const [first = last] = before;
  return before.every(({ kind }) => kind === 'word') && !BEFORE_USE.has(last.text) && !first.text.startsWith('for');
}

function isQuote(tokens: readonly Token[], at: number): boolean {
  return ['"', "'", '`'].includes(tokens[at]?.text ?? '');
}

/** A `|` of block parameters. */
function isBar(tokens: readonly Token[], at: number): boolean {
  return tokens[at]?.text === '|' && ![tokens[at - 1], tokens[at + 1]].some((other) => other?.text === '|');
}

function isBinding(before: readonly Token[]): boolean {
  const binding = before.findLastIndex(({ text }) => BINDINGS.has(text));
  return binding >= 0 && !before.slice(binding).some(({ text }) => ['=', 'in', 'of'].includes(text));
}

function isUseByNext(tokens: readonly Token[], at: number): boolean {
  const [token, next, second] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (token === undefined || next === undefined) return true;
  if (next.text === ':') return second === undefined && STATEMENTS.has(tokens[0]?.text ?? '');
  if (next.text === '=') return second?.text === '=' && second.start === next.end;
  if ('?!'.includes(next.text)) return second?.text !== ':';
  if (next.text === '-' && next.start === token.end) return second === undefined || '->='.includes(second.text);
  if (next.text === '-') return second?.text !== '>' || second.start !== next.end;
  return next.kind === 'mark' || next.kind === 'comment' || AFTER_USE.has(next.text);
}

function isUseByPrevious(tokens: readonly Token[], at: number): boolean {
  const [token, previous, next] = [tokens[at], tokens[at - 1], tokens[at + 1]];
  if (token === undefined) return false;
  const [inner] = bracketsAround(tokens, at);
  const bracket = inner && tokens[inner.open]?.text;
  if (previous === undefined || ';{'.includes(previous.text)) {
    if (next === undefined || next.kind === 'comment' || ',;)}]'.includes(next.text)) return false;
    // A call, or a method.
    return next.text !== '(' || !mayDeclare(tokens, { open: at + 1, close: closingOf(tokens, at + 2) });
  }
  if (previous.kind !== 'mark') return BEFORE_USE.has(previous.text);
  if (previous.text === ',') return bracket === '(' || bracket === '[';
  if (previous.text === ':') return bracket !== undefined;
  if ('([=+!?'.includes(previous.text)) return true;
  return SPACED.includes(previous.text) && isSpaced(tokens, at);
}

/** True if the operator before a name has spaces on both sides. */
function isSpaced(tokens: readonly Token[], at: number): boolean {
  let first = at - 1;
  const startOf = (index: number) => tokens[index]?.start ?? 0;
  const endOf = (index: number) => tokens[index]?.end ?? 0;
  if (startOf(at) === endOf(first)) return false;
  while (tokens[first - 1]?.kind === 'mark' && startOf(first) === endOf(first - 1)) {
    if (!`${SPACED}=!`.includes(tokens[first - 1]?.text ?? '')) break;
    first--;
  }
  return first > 0 && startOf(first) > endOf(first - 1);
}

interface Pair {
  readonly open: number;
  /** Undefined: on another line. */
  readonly close: number | undefined;
}

/** The brackets around a token, from the inner ones to the outer ones. */
function bracketsAround(tokens: readonly Token[], at: number): readonly Pair[] {
  const open: number[] = [];
  for (const [index, { text }] of tokens.slice(0, at).entries()) {
    if ('([{'.includes(text)) open.push(index);
    else if (')]}'.includes(text)) open.pop();
  }
  let from: number | undefined = at + 1;
  return open.toReversed().map((index) => {
    const close: number | undefined = from === undefined ? undefined : closingOf(tokens, from);
    from = close === undefined ? undefined : close + 1;
    return { open: index, close };
  });
}

/** The first closing bracket whose opening one is before `from`. */
function closingOf(tokens: readonly Token[], from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < tokens.length; at++) {
    const text = tokens[at]?.text ?? '';
    if ('([{'.includes(text)) depth++;
    else if (')]}'.includes(text) && --depth < 0) return at;
  }
  return undefined;
}

/** True if brackets may be those of parameters or of a pattern. */
function mayDeclare(tokens: readonly Token[], { open, close }: Pair): boolean {
  const [bracket, word] = [tokens[open]?.text, tokens[open - 1]?.text ?? ''];
  const [after, second] = close === undefined ? [] : [tokens[close + 1]?.text, tokens[close + 2]?.text];
  const isLambda = (after === '=' || after === '-') && second === '>';
  const isAssigned = after === '=' && second !== '=';
  if (isLambda || isAssigned) return true;
  if (bracket === '{') return false;
  if (STATEMENTS.has(tokens[0]?.text ?? '') || STATEMENTS.has(word)) return false;
  return close === undefined || after === ':' || (bracket === '(' && after === '{');
}
