import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { promisify } from 'node:util';
import { defined } from '../../base/json.ts';
import { type FileProblem, readRegularFile } from '../../base/regular-file.ts';
import { withoutByteOrderMark } from '../../base/text.ts';
import { runInSlices } from '../../base/time-slices.ts';
import { restriction } from '../schema/near-options.ts';
import { isId } from '../schema/schema.ts';
import { removableEntry, type Validated, validateSteps } from '../schema/validate.ts';
import { buildSteps } from '../settings/build.ts';
import type { Source } from '../settings/origin.ts';
import type { Diagnostic, Settings } from '../settings/settings.ts';
import {
  type Entry,
  mergeTrees,
  nodeAt,
  type ObjectTree,
  type Place,
  type Replacement,
  replaceNodes,
  toTree,
} from '../settings/tree.ts';
import { isAllowed, readAllowedFolders } from './allowed-folders.ts';
import { decode, diagnosticAt, MAX_CONFIG_BYTES, type Parsed, parseSteps } from './parse.ts';
import { type ReferenceScope, resolveReferences } from './references.ts';
import { applySourceRules, brokenAddress, decidesAddress } from './source-rules.ts';
import { candidates, type LoadInput, type SourceCandidate } from './sources.ts';

export type { LoadInput } from './sources.ts';

/** The state for the next load: the last content of each readable source, by its `memoryKey`. */
export interface Memory {
  readonly sources: ReadonlyMap<string, Remembered>;
}

interface Remembered {
  readonly text: string;
  readonly parsed: Parsed;
}

/**
 * Identifies a source across loads. One file can be two sources: the file in `SVC_CONFIG` is trusted, and the same file
 * found in the project is not. The nodes of a parsed tree contain their source, so the two must not share a tree.
 */
function memoryKey({ kind, path }: Pick<Source, 'kind' | 'path'>): string {
  return `${kind} ${path}`;
}

export interface Loaded {
  readonly settings: Settings;
  readonly memory: Memory;
  /** Sources with content in `previous` but without content now: they were deleted, or a save is in progress. */
  readonly removedSources: readonly string[];
  /** Files that references use. */
  readonly referenced: readonly string[];
}

/** One source after reading, resolving and checking. */
interface Layer {
  readonly source: Source;
  readonly tree?: ObjectTree;
  readonly project?: SourceCandidate['project'];
  readonly diagnostics: readonly Diagnostic[];
  readonly remembered?: Remembered;
  readonly referenced?: readonly string[];
}

/** Reads every source once. Never throws for invalid content; see `Settings.diagnostics`. */
export async function loadSettings(input: LoadInput): Promise<Settings> {
  return (await load(input)).settings;
}

/** Like `loadSettings`, but uses the last valid content of a source that is invalid now. */
export async function load(input: LoadInput, previous?: Memory): Promise<Loaded> {
  const { below, projects: findProjects, above } = candidates(input);
  const allowedFolders = readAllowedFolders(input);
  const read = (places: readonly SourceCandidate[]) =>
    Promise.all(
      places.map(async (place) => {
        const owners = place.project && !isAllowed(place.project.real, await allowedFolders) ? ownOwners() : undefined;
        return readLayer(place, { ...input, owners }, previous?.sources.get(memoryKey(place)));
      }),
    );
  // Start reading the user's files, usually the largest ones, while the project folder is searched.
  const reading = Promise.all([read(below()), findProjects().then(read), read(above())]);
  const layers = (await reading).flat();
  const diagnostics = layers.flatMap((layer) => layer.diagnostics);
  const fold = (wanted: (source: Source) => boolean) =>
    layers.reduce(
      (under, { source, tree }) => (tree !== undefined && wanted(source) ? mergeTrees(under, tree) : under),
      EMPTY,
    );
  const content = await runInSlices(
    buildSteps({
      all: fold(() => true),
      trusted: fold((source) => source.trusted),
      untrusted: fold((source) => !source.trusted),
      trustedWorkspace: input.trustedWorkspace,
    }),
  );
  const problem = managedProblem(layers);
  const allowed = await allowedFolders;
  const projects = await projectsOf(layers, input);
  const settings: Settings = {
    ...content,
    sources: layers.map((layer) => layer.source),
    projects,
    projectAllowed: projects.every((folder) => isAllowed(folder, allowed)),
    diagnostics,
    ...defined({ managedProblem: problem }),
  };
  const sources = new Map<string, Remembered>();
  for (const { source, remembered } of layers) if (remembered !== undefined) sources.set(memoryKey(source), remembered);
  const referenced = layers.flatMap((layer) => layer.referenced ?? []);
  const removedSources = layers.filter(({ source, remembered }) => hadContent(previous, source) && isBlank(remembered));
  return { settings, memory: { sources }, removedSources: removedSources.map(({ source }) => source.path), referenced };
}

const NOWHERE: Source = { kind: 'built-in', path: 'built-in', trusted: true, status: 'loaded' };
const EMPTY: ObjectTree = {
  type: 'object',
  place: { source: NOWHERE, line: 1, column: 1, length: 1 },
  entries: new Map(),
};

function hadContent(previous: Memory | undefined, source: Source): boolean {
  return !isBlank(previous?.sources.get(memoryKey(source)));
}

function isBlank(remembered: Remembered | undefined): boolean {
  return remembered === undefined || remembered.text.trim() === '';
}

function managedProblem(layers: readonly Layer[]): string | undefined {
  const managed = layers.filter(({ source }) => source.kind === 'managed' && source.status !== 'last-good');
  const error = managed.flatMap((layer) => layer.diagnostics).find(({ severity }) => severity === 'error');
  if (error === undefined) return undefined;
  return `The managed configuration ${error.path} is invalid (line ${error.line}, column ${error.column}): ${error.message}`;
}

/** The real paths of the folders whose files are used, and those of a workspace with settings of its own. */
async function projectsOf(layers: readonly Layer[], { folders = [] }: LoadInput): Promise<readonly string[]> {
  const found = layers.flatMap(({ tree, project }) => (tree && project ? [project.real] : []));
  const workspace = layers.some(({ tree, source }) => tree && source.kind === 'editor-workspace');
  const real = workspace ? await Promise.all(folders.map((each) => realpath(each).catch(() => each))) : [];
  return [...new Set([...found, ...real])];
}

/** The users whose files are read in a folder that is not allowed; undefined on Windows, which has no such numbers. */
function ownOwners(): readonly number[] | undefined {
  const own = process.getuid?.();
  return own === undefined ? undefined : [own, 0];
}

interface ReadInput extends LoadInput {
  readonly owners: readonly number[] | undefined;
}

async function readLayer(candidate: SourceCandidate, input: ReadInput, before: Remembered | undefined): Promise<Layer> {
  const { kind, path, trusted, project } = candidate;
  const placed = defined({ project });
  const source: Source = { kind, path, trusted, status: 'loaded' };
  const read = await loadContent(candidate, source, input.owners, before);
  if (read === undefined) {
    const missing: Source = { ...source, status: 'missing' };
    const message = `The file ${path} (from SVC_CONFIG) does not exist.`;
    const warning = diagnosticAt(anchorAt(missing), 'warning', 'missing-file', '', message);
    return { source: missing, diagnostics: candidate.named ? [warning] : [] };
  }
  const { parsed, text } = read;
  if (parsed.tree !== undefined) {
    const checked = await checkLayer(parsed.tree, candidate, input);
    const diagnostics = [...parsed.diagnostics, ...checked.diagnostics];
    return {
      source,
      ...placed,
      tree: checked.tree,
      diagnostics,
      referenced: checked.files,
      remembered: { text: text ?? '{}', parsed },
    };
  }
  if (before?.parsed.tree === undefined) {
    return { source: { ...source, status: 'invalid' }, diagnostics: parsed.diagnostics };
  }
  const checked = await checkLayer(before.parsed.tree, candidate, input);
  const diagnostics = [...parsed.diagnostics, ...checked.diagnostics];
  return {
    source: { ...source, status: 'last-good' },
    ...placed,
    tree: checked.tree,
    diagnostics,
    referenced: checked.files,
    remembered: before,
  };
}

interface Content {
  readonly parsed: Parsed;
  /** Absent if the content could not be read as text. */
  readonly text?: string;
}

/** The parsed content, `undefined` if there is no file. */
async function loadContent(
  candidate: SourceCandidate,
  source: Source,
  owners: readonly number[] | undefined,
  before?: Remembered,
): Promise<Content | undefined> {
  const { content } = candidate;
  if (content !== undefined) {
    if ('text' in content) {
      const text = withoutByteOrderMark(content.text);
      return { text, parsed: await runInSlices(parseSteps(text, source)) };
    }
    return { parsed: parsedValue(content.value, source) };
  }
  const file = await readRegularFile(candidate.path, { limit: MAX_CONFIG_BYTES, ...(owners ? { owners } : {}) });
  if ('problem' in file) {
    if (file.problem === 'missing') return undefined;
    if (file.problem === 'foreign-owner') return { parsed: skipped(FILE_WORDS[file.problem], source) };
    return { parsed: unreadable(FILE_WORDS[file.problem], source) };
  }
  if (candidate.plist) return { parsed: await readPropertyList(candidate.path, source) };
  const decoded = decode(file.bytes);
  if ('problem' in decoded) return { parsed: unreadable(decoded.problem, source) };
  const { text } = decoded;
  if (before?.text === text) return { text, parsed: before.parsed };
  return { text, parsed: await runInSlices(parseSteps(text, source)) };
}

const FILE_WORDS: Readonly<Record<FileProblem, string>> = {
  missing: 'The file does not exist.',
  'not-a-file': 'This is not a regular file.',
  'too-large': `The file is larger than ${MAX_CONFIG_BYTES / 1024} KiB.`,
  unreadable: 'The file cannot be read. Check its permissions.',
  outside: 'The file is outside the project.',
  'foreign-owner':
    'The file belongs to another user and is not used. If you trust it, allow its folder with `svc trust`.',
};

function anchorAt(source: Source): Place {
  return { source, line: 1, column: 1, length: 1 };
}

function unreadable(message: string, source: Source): Parsed {
  return { diagnostics: [diagnosticAt(anchorAt(source), 'error', 'unreadable', '', message)] };
}

function skipped(message: string, source: Source): Parsed {
  return { diagnostics: [diagnosticAt(anchorAt(source), 'warning', 'foreign-owner', '', message)] };
}

function parsedValue(value: unknown, source: Source): Parsed {
  const tree = toTree(value, anchorAt(source));
  return tree?.type === 'object' ? { tree, diagnostics: [] } : unreadable('These settings are not an object.', source);
}

/** Keys that device management adds to every property list (Apple, "Profile-Specific Payload Keys"). */
const PAYLOAD_KEY = /^(Payload[A-Z]\w*|_manualProfile)$/;

async function readPropertyList(file: string, source: Source): Promise<Parsed> {
  try {
    const { stdout } = await promisify(execFile)('/usr/bin/plutil', ['-convert', 'json', '-o', '-', '--', file]);
    const parsed = await runInSlices(parseSteps(stdout, source));
    if (parsed.tree === undefined) return parsed;
    const payload = [...parsed.tree.entries.keys()].filter((key) => PAYLOAD_KEY.test(key));
    const removed = payload.map((key) => ({ path: [key], node: undefined }));
    return { ...parsed, tree: replaceNodes(parsed.tree, removed) };
  } catch {
    return unreadable('plutil cannot read this property list.', source);
  }
}

/** Applies references, the schema and the source rules, in this order. */
async function checkLayer(tree: ObjectTree, candidate: SourceCandidate, input: LoadInput) {
  const { trusted, folder, project } = candidate;
  const scope: ReferenceScope = {
    trusted,
    closed: !trusted && !input.trustedWorkspace,
    env: input.env,
    platform: input.platform,
    home: input.home,
    folder,
    ...defined({ root: project }),
  };
  const resolved = await resolveReferences(tree, scope);
  const usable = replaceNodes(resolved.tree, resolved.absent.flatMap(consequence));
  const broken = new Set(resolved.absent.filter(({ path }) => decidesAddress(path)).map(({ path }) => path.join('.')));
  const validated = await runInSlices(validateSteps(usable));
  const marks = validated.removed.flatMap((each) => addressMark(each, validated.tree) ?? []);
  const marked = stopProviders(replaceNodes(validated.tree, marks), validated.removed);
  const ruled = applySourceRules(marked, trusted);
  // The `null` that marks a failed reference is not the user's text. The reference has its own diagnostic.
  const own = validated.diagnostics.filter(({ key }) => !broken.has(key));
  return {
    tree: ruled.tree,
    diagnostics: [...resolved.diagnostics, ...own, ...ruled.diagnostics],
    files: resolved.files,
  };
}

/** Stops a provider whose address is wrong, or was written under another name. */
function addressMark(
  { path, place, breaksAddress }: Validated['removed'][number],
  tree: ObjectTree,
): Replacement | undefined {
  // `options.baseURL` overrides `api`.
  if (path[0] === 'provider' && path[2] === 'api' && nodeAt(tree, [...path.slice(0, 2), 'options', 'baseURL'])) {
    return undefined;
  }
  if (decidesAddress(path)) return brokenAddress({ path, place });
  if (isOfModel(path, breaksAddress)) return { path: path.slice(0, 4), node: { type: 'scalar', place, value: null } };
  // A restriction that can't be read is not none.
  const [section = '', id = ''] = path;
  if (section === 'localOnly') return { path: [section], node: { type: 'scalar', place, value: true } };
  if (restriction(section)) return { path: ['enabled_providers'], node: { type: 'array', place, items: [] } };
  return breaksAddress && section === 'provider' ? brokenAddress({ path: [section, id, 'api'], place }) : undefined;
}

/** Whether the address of one model can't be used. The public catalog may have the model with the default address. */
function isOfModel(path: readonly string[], breaksAddress = false): boolean {
  return path[0] === 'provider' && path[2] === 'models' && (breaksAddress || path[4] === 'provider');
}

/** Stops providers whose settings or options can't be read at all, or are in another section. */
function stopProviders(tree: ObjectTree, removed: Validated['removed']): ObjectTree {
  const entries = removed.flatMap(({ path, place, breaksAddress }): [string, Entry][] => {
    const [root = '', id = root, part = 'options'] = path;
    const isWhole = root === 'provider' && path.length <= 3 && path.length > 1 && part === 'options';
    if ((!isWhole && !(breaksAddress === true && root !== 'provider')) || !isId(id)) return [];
    const api: Entry = { key: place, value: { type: 'scalar', place, value: null } };
    return [[id, { key: place, value: { type: 'object', place, entries: new Map([['api', api]]) } }]];
  });
  const [first] = entries;
  if (first === undefined) return tree;
  const { key } = first[1];
  const provider: Entry = { key, value: { type: 'object', place: key, entries: new Map(entries) } };
  return mergeTrees(tree, { ...tree, entries: new Map([['provider', provider]]) });
}

/** The further replacements that a failed reference requires. */
function consequence({ path, place }: { readonly path: readonly string[]; readonly place: Place }): Replacement[] {
  if (decidesAddress(path)) return [brokenAddress({ path, place })];
  // A list or policy of the gateway without one of its values would have a different meaning.
  if (path[0] === 'gateway') {
    const entry = removableEntry(path);
    return entry.length < path.length ? [{ path: entry, node: undefined }] : [];
  }
  return isOfModel(path) ? [{ path: path.slice(0, 4), node: { type: 'scalar', place, value: null } }] : [];
}
