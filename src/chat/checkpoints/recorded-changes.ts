import type { JournalFile, JournalLine } from './journal.ts';

/** A change that a tool made, or an undo of such changes. */
export interface RecordedChange extends JournalFile {
  readonly id: string;
  readonly entry: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly message: string;
  readonly call: string;
  /** The hash of the content after it; null: the file does not exist. Undefined: a crash prevented its record. */
  readonly after: string | null | undefined;
  /** `applied`: not decided yet. `kept`: accepted by the user; it can still be undone. */
  readonly state: 'applied' | 'undone' | 'kept';
}

/** Reads the changes from a journal, oldest first. Changes without an effect are left out. */
export function recordedChanges(lines: readonly JournalLine[]): readonly RecordedChange[] {
  const ends = new Map(lines.flatMap((line) => (line.type === 'end' ? [[line.id, line.after] as const] : [])));
  const kept = new Set(lines.flatMap((line) => (line.type === 'keep' ? line.ids : [])));
  const changes = lines.flatMap((line) => {
    if (line.type !== 'begin') return [];
    const { id: entry, at, message, call, files } = line;
    return files.map((file, index): RecordedChange => {
      const id = `${entry}.${index}`;
      const after = ends.get(entry)?.[index];
      return { ...file, id, entry, at, message, call, after, state: kept.has(id) ? 'kept' : 'applied' };
    });
  });
  return markUndone(changes.filter(hasEffect));
}

/** Whether the change was made: it may have failed or been stopped. */
export function hasEffect({
  kind,
  before,
  after,
  reverts,
}: Pick<RecordedChange, 'kind' | 'before' | 'after' | 'reverts'>): boolean {
  if (reverts) return true;
  return kind === 'rename' ? after !== null : before !== after;
}

/** The newest decides: an undo that was itself undone takes back nothing. */
function markUndone(changes: readonly RecordedChange[]): readonly RecordedChange[] {
  const undone = new Set<string>();
  for (const change of changes.toReversed()) {
    if (!undone.has(change.id)) for (const id of change.reverts ?? []) undone.add(id);
  }
  return changes.map((change) => (undone.has(change.id) ? { ...change, state: 'undone' } : change));
}
