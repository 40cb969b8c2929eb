import type { FileOperation } from './files.ts';
import { mergeLines } from './merge-lines.ts';
import type { RecordedChange } from './recorded-changes.ts';

/** The outcome for one change: `merged` with later changes, `lost`: its contents are no longer kept. */
export type RevertResult = 'done' | 'merged' | 'conflict' | 'lost';

export interface RevertOutcome {
  readonly id: string;
  readonly path: string;
  readonly result: RevertResult;
}

/** A file that a revert changes. `before`: undefined if there is none. */
export interface RevertedFile {
  readonly path: string;
  readonly newPath?: string;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
  /** The changes that it takes back. */
  readonly reverts: readonly string[];
}

export interface RevertPlan {
  readonly outcomes: readonly RevertOutcome[];
  readonly files: readonly RevertedFile[];
  readonly operations: readonly FileOperation[];
}

export interface PlanDeps {
  readonly read: (path: string) => Promise<Uint8Array | undefined>;
  readonly content: (hash: string) => Promise<Uint8Array | undefined>;
  /** All changes, oldest first. */
  readonly all: readonly RecordedChange[];
  /** Overwrites later changes of the user instead of reporting a conflict. */
  readonly force: boolean;
}

type Content = Uint8Array | undefined;

/** A file during the plan. `name` changes with a rename. */
interface Planned {
  readonly origin: string;
  readonly before: Content;
  name: string;
  now: Content;
  readonly reverts: string[];
  blocked: boolean;
}

/** Computes how to take back changes, newest first, so that changes by the user since then are kept. */
export async function planRevert(changes: readonly RecordedChange[], deps: PlanDeps): Promise<RevertPlan> {
  const files = new PlannedFiles(deps.read);
  const outcomes: RevertOutcome[] = [];
  const reverted = new Set<string>();
  for (const change of changes.toReversed()) {
    const file = await files.at(pathNow(change, deps.all, reverted));
    const result = file.blocked ? 'conflict' : await revertOne(change, file, files, deps);
    // Earlier changes of the file can only be taken back after this one.
    if (result === 'conflict' || result === 'lost') file.blocked = true;
    else {
      file.reverts.push(change.id);
      reverted.add(change.id);
    }
    outcomes.push({ id: change.id, path: change.newPath ?? change.path, result });
  }
  const changed = revertedFiles(files.all);
  return { outcomes, files: changed, operations: operationsFor(changed) };
}

/** The path of the file of a change: follows the later renames that the plan has not taken back. */
function pathNow(change: RecordedChange, all: readonly RecordedChange[], reverted: ReadonlySet<string>): string {
  let path = change.newPath ?? change.path;
  for (const { id, kind, path: from, newPath } of all.slice(all.findIndex(({ id }) => id === change.id) + 1)) {
    if (kind === 'rename' && from === path && newPath !== undefined && !reverted.has(id)) path = newPath;
  }
  return path;
}

class PlannedFiles {
  readonly #read: PlanDeps['read'];
  readonly all: Planned[] = [];

  constructor(read: PlanDeps['read']) {
    this.#read = read;
  }

  /** The file with this path at this point of the plan, which may be missing. */
  async at(path: string): Promise<Planned> {
    const known = this.all.find(({ name }) => name === path);
    if (known) return known;
    const before = this.all.some(({ origin }) => origin === path) ? undefined : await this.#read(path);
    const file: Planned = { origin: path, before, name: path, now: before, reverts: [], blocked: false };
    this.all.push(file);
    return file;
  }
}

async function revertOne(
  change: RecordedChange,
  file: Planned,
  files: PlannedFiles,
  { content, force }: PlanDeps,
): Promise<RevertResult> {
  if (change.kind === 'rename') {
    const target = await files.at(change.path);
    if (file.now === undefined || target.now !== undefined) return 'conflict';
    // Two files never have one name.
    target.name = '';
    file.name = change.path;
    if (change.before === change.after) return 'done';
  }
  const before = change.before === null ? undefined : await content(change.before);
  const after = change.after == null ? undefined : await content(change.after);
  if (change.before !== null && before === undefined) return 'lost';
  if (sameContent(file.now, before)) return 'done';
  if (force || sameContent(file.now, after)) {
    file.now = before;
    return 'done';
  }
  const merged = file.now && before && after && merge(after, file.now, before);
  if (!merged) return 'conflict';
  file.now = merged;
  return 'merged';
}

function merge(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array): Uint8Array | undefined {
  const [baseText, ownText, otherText] = [base, ours, theirs].map((each) => Buffer.from(each).toString('latin1'));
  const merged = mergeLines(baseText ?? '', ownText ?? '', otherText ?? '');
  return merged === undefined ? undefined : Buffer.from(merged, 'latin1');
}

function sameContent(a: Content, b: Content): boolean {
  return a === b || (a !== undefined && b !== undefined && Buffer.compare(a, b) === 0);
}

/**
 * The total effect on each path. A file that only moved is one rename; where files swap their places, each path gets
 * its new content.
 */
function revertedFiles(planned: readonly Planned[]): readonly RevertedFile[] {
  // The first file with a path is the one that exists.
  const before = new Map(planned.toReversed().map((file) => [file.origin, file.before]));
  const after = new Map(planned.map((file) => [file.name, file.now]));
  const isMove = ({ origin, name, before: first, now }: Planned) =>
    origin !== name && first && now && after.get(origin) === undefined && before.get(name) === undefined;
  const moves = planned.filter(isMove);
  const moved = new Set(moves.flatMap(({ origin, name }) => [origin, name]));
  const reverts = new Map<string, readonly string[]>();
  for (const file of planned.filter((file) => file.reverts.length > 0 && !isMove(file))) {
    for (const path of new Set([file.origin, file.name]))
      if (path !== '' && !moved.has(path)) reverts.set(path, [...(reverts.get(path) ?? []), ...file.reverts]);
  }
  return [
    ...moves.map(
      (file): RevertedFile => ({
        path: file.origin,
        newPath: file.name,
        before: file.before,
        after: file.now,
        reverts: file.reverts,
      }),
    ),
    ...[...reverts].map(
      ([path, ids]): RevertedFile => ({ path, before: before.get(path), after: after.get(path), reverts: ids }),
    ),
  ];
}

/** Deletions and renames first, so that each file finds its path free. */
function operationsFor(files: readonly RevertedFile[]): readonly FileOperation[] {
  const places = files.flatMap(({ path, newPath, before, after }): readonly FileOperation[] => {
    if (newPath !== undefined) return [{ type: 'rename', path, newPath }];
    return before !== undefined && after === undefined ? [{ type: 'delete', path }] : [];
  });
  const contents = files.flatMap(({ path, newPath = path, before, after }): readonly FileOperation[] =>
    after === undefined || sameContent(before, after) ? [] : [{ type: 'write', path: newPath, content: after }],
  );
  return [...places, ...contents];
}
