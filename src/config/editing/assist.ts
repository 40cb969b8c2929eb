import { getLocation, visit } from 'jsonc-parser';

/** The data for suggestions in a configuration file. Each list is read on demand. */
/** The keys of the root that name a model. */
export type ModelKey = 'model' | 'completionModel' | 'nextEditModel';

export interface Knowledge {
  /** Providers of the catalog and of the configuration. */
  readonly providers: () => Iterable<{ readonly id: string; readonly name: string }>;
  /** The known models of a provider. */
  readonly models: (provider: string) => Iterable<{ readonly key: string; readonly name: string }>;
  /** The available models as `<provider_id>/<model_id>`. */
  readonly refs: (key: ModelKey) => Iterable<string>;
  readonly variants: (provider: string, model: string) => Iterable<string>;
  readonly environment: () => Iterable<string>;
}

/** A range of characters of the text. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

export interface Proposal {
  readonly label: string;
  readonly detail?: string;
  /** The replacement for `span`. */
  readonly text: string;
  readonly span: Span;
  readonly kind: 'provider' | 'model' | 'variant' | 'variable';
}

const REFERENCE = /\{env:([^{}]*)$/;

/** A string or another scalar in the text. */
interface Token extends Span {
  readonly string: boolean;
}

/** The location of an offset in the text. */
interface Location {
  /** Keys and indexes from the root. At a key, the key itself is the last. */
  readonly path: readonly string[];
  readonly atKey: boolean;
  /** The token that the offset touches: inside it, or at one of its ends. */
  readonly token: Token | undefined;
}

/** Locates an offset. The text may be incomplete, because the user is typing. */
function locate(text: string, offset: number): Location {
  const location = unlessTooDeep(() => getLocation(text, offset));
  if (location === undefined) return { path: [], atKey: false, token: undefined };
  const { path, isAtPropertyKey, previousNode: node } = location;
  const touched = node !== undefined && node.offset <= offset && offset <= node.offset + node.length;
  return {
    path: path.map(String),
    // In an array after an object, jsonc-parser still reports `isAtPropertyKey`.
    atKey: isAtPropertyKey && typeof path.at(-1) === 'string',
    token: touched ? { offset: node.offset, length: node.length, string: text[node.offset] === '"' } : undefined,
  };
}

/** jsonc-parser recurses for each level. Thousands of levels exceed the stack. */
function unlessTooDeep<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Characters before and after an offset that are searched for a word. */
const MAX_WORD = 200;

/** The unquoted word around an offset, which is not a token yet. */
function wordAt(text: string, offset: number): Span {
  const ends = /[\s"{}[\]:,/]/;
  const before =
    text
      .slice(Math.max(0, offset - MAX_WORD), offset)
      .split(ends)
      .at(-1)?.length ?? 0;
  const after = text.slice(offset, offset + MAX_WORD).split(ends)[0]?.length ?? 0;
  return { offset: offset - before, length: before + after };
}

/** The suggestions at an offset of a configuration file. */
export function proposalsAt(text: string, offset: number, knowledge: Knowledge): readonly Proposal[] {
  const { path, atKey, token } = locate(text, offset);
  const inside = token !== undefined && token.offset < offset ? token : undefined;
  if (inside?.string && !atKey) {
    const variables = variableProposals(text, offset, inside, knowledge);
    if (variables.length > 0) return variables;
  }
  const span = inside ? { offset: inside.offset, length: inside.length } : wordAt(text, offset);
  return atKey ? keyProposals(path, span, hasColon(text, span), knowledge) : valueProposals(path, span, knowledge);
}

function variableProposals(text: string, offset: number, node: Token, knowledge: Knowledge): Proposal[] {
  const open = REFERENCE.exec(text.slice(node.offset, offset));
  if (!open) return [];
  const start = offset - (open[1] ?? '').length;
  const rest = /^[^{}"\n]*\}?/.exec(text.slice(offset))?.[0] ?? '';
  const span = { offset: start, length: offset - start + rest.length };
  return [...knowledge.environment()]
    .sort()
    .map((name) => ({ label: name, text: `${name}}`, span, kind: 'variable' as const }));
}

function keyProposals(path: readonly string[], span: Span, colon: boolean, knowledge: Knowledge): Proposal[] {
  const key = (name: string) => (colon ? JSON.stringify(name) : `${JSON.stringify(name)}: {}`);
  const [root, provider = '', section, model = '', part] = path;
  if (root !== 'provider') return [];
  if (path.length === 2) {
    return [...knowledge.providers()].map(({ id, name }) => ({
      label: id,
      detail: name,
      text: key(id),
      span,
      kind: 'provider',
    }));
  }
  if (section !== 'models') return [];
  if (path.length === 4) return modelProposals(provider, span, knowledge, key);
  if (part === 'variants' && path.length === 6) {
    return [...knowledge.variants(provider, model)].map((name) => ({
      label: name,
      text: key(name),
      span,
      kind: 'variant',
    }));
  }
  return [];
}

function valueProposals(path: readonly string[], span: Span, knowledge: Knowledge): Proposal[] {
  const [root, provider = '', list] = path;
  if (path.length === 1 && isModelKey(root)) {
    return [...knowledge.refs(root)].map((ref) => ({
      label: ref,
      text: JSON.stringify(ref),
      span,
      kind: 'model',
    }));
  }
  if (root === 'provider' && (list === 'whitelist' || list === 'blacklist') && path.length === 4) {
    return modelProposals(provider, span, knowledge, JSON.stringify);
  }
  if (root === 'provider' && list === 'models' && path.length === 5 && path[4] === 'id') {
    return modelProposals(provider, span, knowledge, JSON.stringify);
  }
  return [];
}

function isModelKey(key: string | undefined): key is ModelKey {
  return key === 'model' || key === 'completionModel' || key === 'nextEditModel';
}

function modelProposals(
  provider: string,
  span: Span,
  knowledge: Knowledge,
  write: (key: string) => string,
): Proposal[] {
  return [...knowledge.models(provider)].map(({ key, name }) => ({
    label: key,
    detail: name,
    text: write(key),
    span,
    kind: 'model',
  }));
}

function hasColon(text: string, span: Span): boolean {
  return /^\s*:/.test(text.slice(span.offset + span.length));
}

/** The provider, model or setting at a position in a configuration file. */
export type Subject =
  | { readonly kind: 'provider'; readonly provider: string; readonly span: Span }
  | { readonly kind: 'model'; readonly provider: string; readonly model: string; readonly span: Span }
  | { readonly kind: 'value'; readonly path: readonly string[]; readonly span: Span };

/** The subject at an offset: a provider key, a model key or reference, otherwise the value of any other key. */
export function subjectAt(text: string, offset: number): Subject | undefined {
  const { path, atKey, token } = locate(text, offset);
  if (token === undefined) return undefined;
  const span = { offset: token.offset, length: token.length };
  const [root, provider, section, model] = path;
  if (root === 'provider' && provider !== undefined && path.length === 2) return { kind: 'provider', provider, span };
  if (
    root === 'provider' &&
    provider !== undefined &&
    section === 'models' &&
    model !== undefined &&
    path.length === 4
  ) {
    return { kind: 'model', provider, model, span };
  }
  if (path.length === 1 && isModelKey(root) && token.string && !atKey) {
    const ref = text.slice(span.offset, span.offset + span.length).replace(/^"|"$/g, '');
    const slash = ref.indexOf('/');
    if (slash > 0) return { kind: 'model', provider: ref.slice(0, slash), model: ref.slice(slash + 1), span };
  }
  return { kind: 'value', path, span };
}

/** The position of each provider's key. */
export function providerKeys(text: string): readonly { readonly provider: string; readonly span: Span }[] {
  const found: { provider: string; span: Span }[] = [];
  let depth = 0;
  let section = '';
  const enter = () => {
    depth += 1;
  };
  const leave = () => {
    depth -= 1;
  };
  const key = (name: string, offset: number, length: number) => {
    if (depth === 1) section = name;
    else if (depth === 2 && section === 'provider') found.push({ provider: name, span: { offset, length } });
  };
  const visitor = {
    onObjectBegin: enter,
    onObjectEnd: leave,
    onArrayBegin: enter,
    onArrayEnd: leave,
    onObjectProperty: key,
  };
  unlessTooDeep(() => visit(text, visitor));
  return found;
}
