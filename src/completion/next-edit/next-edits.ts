import { Emitter } from '../../base/emitter.ts';
import { type Clock, delay, systemClock } from '../document/clock.ts';
import type { CompletionSettings } from '../document/completion-settings.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import type { DocumentChange } from '../document/suggestion.ts';
import { CompletionGate } from '../trigger/completion-gate.ts';
import type { NotSent } from '../trigger/trigger.ts';
import { EditChain } from './edit-chain.ts';
import { type FoundEdit, isApplicable } from './edit-checks.ts';
import { EditRate } from './edit-rate.ts';
import { EditTracker } from './edit-tracker.ts';
import type { FinishedEdit, NextEdit, NextEditEngine, NextEditOrigin, NextEditSource } from './next-edit.ts';
import { Rejections } from './rejections.ts';
import { SameEditSource } from './same-edit.ts';
import type { TrackedChange } from './tracked-document.ts';

export interface NextEditsDeps {
  /** Besides the same edit at other places, which the engine finds itself. */
  readonly sources: readonly NextEditSource[];
  /** `enabled`: next edits are on. */
  readonly settings: () => CompletionSettings;
  /** Why a file must not be sent (exclusion.ts); `undefined`: it may be sent. */
  readonly excluded?: (uri: string) => NotSent | undefined;
  /** True while a completion is requested for the cursor: it may become ghost text, which comes first. */
  readonly completionPending?: () => boolean;
  readonly clock?: Clock;
}

/** Which edits are preferred, if several sources find some. */
const ORDER: readonly NextEditOrigin[] = ['rename', 'same-edit', 'quick-fix', 'model'];

interface Cursor {
  readonly document: DocumentText;
  readonly position: Position;
}

/** A cursor that moves to another line looks for edits only this long after the last edit. */
const RECENT_MS = 10_000;
/** Wait after a move of the cursor to another line. */
const MOVED_MS = 60;
/** A move so soon after a change is a part of it. */
const SAME_KEY_MS = 40;
/** Wait for a completion that is on its way. */
const PENDING_MS = 100;
const MAX_PENDING = 10;
/** A source that takes longer is not waited for. */
const SOURCE_MS = 3_000;
/** An accepted edit reaches the document within this time. */
const ACCEPTING_MS = 2_000;
/** An edit goes after this many finished edits of the user elsewhere. */
const MAX_IGNORED = 2;

/**
 * Next edits without an editor. A front end reports changes and the cursor, draws `current`, and says what the user did
 * with it. All calls are synchronous and fast; edits are looked for when the user pauses.
 */
export class NextEdits implements NextEditEngine {
  readonly #deps: NextEditsDeps;
  readonly #clock: Clock;
  readonly #gate: CompletionGate;
  readonly #changed = new Emitter<[NextEdit | undefined]>();
  readonly onDidChange = this.#changed.event;
  readonly #tracker: EditTracker;
  readonly #chain = new EditChain();
  readonly #rejections = new Rejections();
  readonly #rate: EditRate;
  readonly #sources: readonly NextEditSource[];
  #current: NextEdit | undefined;
  #cursor: Cursor | undefined;
  #quiet = false;
  #ghostText = false;
  /** After undo or redo, until the next change. */
  #undone = false;
  #ignored = 0;
  #lastChange = Number.NEGATIVE_INFINITY;
  #accepting: { readonly uri: string; readonly until: number } | undefined;
  #cancelTimer: (() => void) | undefined;
  #finding: AbortController | undefined;

  constructor(deps: NextEditsDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#gate = new CompletionGate(deps);
    this.#tracker = new EditTracker(deps.excluded);
    this.#rate = new EditRate(this.#clock);
    const same = new SameEditSource((uri, most) => this.#tracker.history.finishedEdits(uri, most));
    this.#sources = [...deps.sources, same].sort((a, b) => ORDER.indexOf(a.origin) - ORDER.indexOf(b.origin));
  }

  get current(): NextEdit | undefined {
    return this.#current;
  }

  documentChanged(change: DocumentChange, document: DocumentText): void {
    if (change.changes.length === 0) return;
    const { uri } = change;
    const predicted = this.#isAccepted(change);
    let done = false;
    const known = this.#tracker.apply(change, document, { time: this.#clock.now(), predicted }, (each) => {
      done = this.#follow(uri, each, predicted) || done;
    });
    if (!known && this.#chain.edits.some((edit) => edit.uri === uri)) this.#chain.clear();
    if (this.#cursor?.document.uri === uri) this.#cursor = { ...this.#cursor, document };
    this.#undone = change.reason !== undefined;
    if (this.#undone) this.#chain.clear();
    if (this.#cursor?.document.uri === uri) this.#afterChange(change, predicted);
    this.#refresh();
  }

  documentClosed(uri: string): void {
    this.#tracker.close(uri);
    this.#rejections.documentClosed(uri);
    if (this.#cursor?.document.uri === uri) this.#cursor = undefined;
    if (this.#chain.edits.some((edit) => edit.uri === uri)) this.#chain.clear();
    this.#refresh();
  }

  cursorMoved(document: DocumentText, position: Position, quiet: boolean): void {
    const before = this.#cursor;
    this.#tracker.open(document);
    this.#cursor = { document, position };
    this.#quiet = quiet;
    const moved = before?.document.uri !== document.uri || before.position.line !== position.line;
    // Typing moves the cursor too, and has its own wait.
    const recent = this.#clock.now() - this.#lastChange;
    if (moved && !quiet && recent > SAME_KEY_MS && recent < RECENT_MS) this.#schedule(MOVED_MS);
    this.#refresh();
  }

  ghostTextShown(shown: boolean): void {
    this.#ghostText = shown;
    this.#refresh();
  }

  accepted(edit: NextEdit): void {
    if (!this.#chain.take(edit)) return;
    this.#rate.accepted();
    this.#ignored = 0;
    this.#accepting = { uri: edit.uri, until: this.#clock.now() + ACCEPTING_MS };
    this.#refresh();
  }

  rejected(edit: NextEdit): void {
    this.#rejections.add(edit);
    if (this.#chain.edits[0]?.id === edit.id) {
      for (const other of this.#chain.edits) this.#rejections.add(other);
      this.#chain.clear();
    }
    this.#rate.rejected();
    this.#refresh();
  }

  async request(document: DocumentText, position: Position): Promise<void> {
    this.#tracker.open(document);
    this.#cursor = { document, position };
    this.#chain.clear();
    this.#refresh();
    await this.#find(true);
  }

  dispose(): void {
    this.#cancelTimer?.();
    this.#finding?.abort();
    this.#changed.dispose();
  }

  /** Returns true if the user has made the shown edit without help. */
  #follow(uri: string, change: TrackedChange, predicted: boolean): boolean {
    this.#rejections.documentChanged(uri, change);
    return this.#chain.documentChanged(uri, change, predicted);
  }

  #isAccepted({ uri, reason }: DocumentChange): boolean {
    const accepting = this.#accepting;
    if (accepting === undefined || accepting.uri !== uri) return false;
    this.#accepting = undefined;
    return reason === undefined && this.#clock.now() <= accepting.until;
  }

  #afterChange(change: DocumentChange, predicted: boolean): void {
    this.#finding?.abort();
    this.#cancelTimer?.();
    this.#lastChange = this.#clock.now();
    // Several carets, a formatter or a rename made it: nothing follows from it that the user would expect.
    if (this.#undone || (change.changes.length > 1 && !predicted)) return;
    if (predicted && this.#chain.length > 0) return;
    this.#schedule(predicted ? 0 : this.#rate.wait(endsInWord(change)));
  }

  #schedule(wait: number, pending = 0): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(wait, () => {
      const busy = pending < MAX_PENDING && this.#deps.completionPending?.() === true;
      if (busy) this.#schedule(PENDING_MS, pending + 1);
      else void this.#find(false);
    });
  }

  /** Looks for edits that follow from the last one of the user. */
  async #find(manual: boolean): Promise<void> {
    this.#finding?.abort();
    const cursor = this.#cursor;
    if (cursor === undefined || !this.#mayFind(cursor, manual)) return;
    const edit = this.#tracker.finished(cursor);
    if (edit === undefined) return;
    const finding = new AbortController();
    this.#finding = finding;
    const found = await this.#findWithoutModel(edit, finding.signal, manual);
    if (finding.signal.aborted) return;
    this.#offer(found, edit);
  }

  #mayFind({ document, position }: Cursor, manual: boolean): boolean {
    if (this.#gate.silence({ document, position, trigger: manual ? 'invoke' : 'automatic' }) !== undefined)
      return false;
    if (manual) return true;
    const automatic = this.#deps.settings().trigger === 'automatic';
    return automatic && !this.#quiet && !this.#undone && this.#clock.now() - this.#lastChange < RECENT_MS;
  }

  /** The edits of the first source that has some. All sources work at the same time. */
  async #findWithoutModel(edit: FinishedEdit, signal: AbortSignal, manual: boolean): Promise<readonly FoundEdit[]> {
    const late = delay(this.#clock, SOURCE_MS, signal).then((): readonly FoundEdit[] => []);
    const answers = this.#sources.map((source) =>
      Promise.race([source.find(edit, signal).catch((): readonly FoundEdit[] => []), late]),
    );
    for (const answer of answers) {
      const found = this.#select(await answer, manual);
      if (signal.aborted || found.length > 0) return found;
    }
    return [];
  }

  #select(found: readonly FoundEdit[], manual: boolean): readonly FoundEdit[] {
    return found.filter((edit) => {
      if (!isApplicable(edit, this.#tracker.document(edit.uri))) return false;
      return manual || !this.#rejections.covers(edit);
    });
  }

  #offer(found: readonly FoundEdit[], { document, line, after }: FinishedEdit): void {
    const basis = { uri: document.uri, first: line, last: line + Math.max(0, after.length - 1) };
    if (this.#chain.length > 0) {
      if (this.#chain.confirm(found, basis)) this.#ignored = 0;
      // A shown edit is not replaced by another one. It goes when the user works on without it.
      else if (++this.#ignored < MAX_IGNORED) return;
      else this.#chain.clear();
      this.#refresh();
      if (this.#chain.length > 0) return;
    }
    this.#ignored = 0;
    this.#chain.start(found, document.uri, basis);
    this.#refresh();
  }

  /** Updates `current`. */
  #refresh(): void {
    const visible = !this.#quiet && !this.#ghostText && !this.#undone;
    const head = visible ? this.#chain.head(this.#cursor?.document.uri) : undefined;
    const following = Math.max(0, this.#chain.length - 1);
    const shown = this.#current;
    if (
      shown?.id === head?.id &&
      shown?.replacements === head?.replacements &&
      (!head || shown?.following === following)
    )
      return;
    this.#current = head === undefined ? undefined : { ...head, following };
    this.#changed.fire(this.#current);
  }
}

/** True if the change typed or deleted a part of a word. */
function endsInWord({ changes: [change] }: DocumentChange): boolean {
  return change !== undefined && /^[\p{L}\p{N}_$]?$/u.test(change.text);
}
