import { Emitter } from '../../base/emitter.ts';
import { comparePositions, endOfText } from '../../base/text-change.ts';
import { type Clock, delay, systemClock } from '../document/clock.ts';
import type { CompletionSettings } from '../document/completion-settings.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import type { DocumentChange } from '../document/suggestion.ts';
import type { Snippet } from '../prompt/context.ts';
import type { OpenCircuit } from '../request/circuit-breaker.ts';
import type { LastEditRequest } from '../request/request-log.ts';
import { CompletionGate } from '../trigger/completion-gate.ts';
import type { NotSent } from '../trigger/trigger.ts';
import { type Basis, EditChain } from './edit-chain.ts';
import { type FoundEdit, isApplicable } from './edit-checks.ts';
import { EditRate } from './edit-rate.ts';
import { EditTracker } from './edit-tracker.ts';
import { removes } from './model/edit-filters.ts';
import { EditPredictor, type EditPredictorDeps } from './model/edit-predictor.ts';
import { recentEdit } from './model/recent-edits.ts';
import type { FinishedEdit, NextEdit, NextEditEngine, NextEditOrigin, NextEditSource } from './next-edit.ts';
import { Rejections } from './rejections.ts';
import { RenamedNameSource } from './renamed-name.ts';
import { SameEditSource } from './same-edit.ts';
import { SameLinesSource } from './same-lines.ts';
import type { TrackedChange } from './tracked-document.ts';

export interface NextEditsDeps extends EditPredictorDeps {
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
/** A model is asked without waiting longer for a source. Edits that the source then finds are still offered. */
const SOURCE_MS = 400;
/** The same when the user asks, who would be told that there is none. */
const MANUAL_SOURCE_MS = 1_500;
/** An accepted edit reaches the document within this time. */
const ACCEPTING_MS = 2_000;
/** Pieces of other files that completions get as context. */
const SNIPPETS = 4;
/** Edits that completions get as diffs, of so many milliseconds. Those so many lines around the cursor are in the text. */
const SENT_EDITS = 6;
const SENT_EDITS_MS = 600_000;
const NEAR_LINES = 8;
/** An edit goes after this many finished edits of the user elsewhere. */
const MAX_IGNORED = 2;

/**
 * Next edits without an editor. A front end reports changes and the cursor, draws `current`, and reports whether
 * the user accepted or rejected it. All calls are synchronous and fast; edits are looked for when the user pauses.
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
  readonly #predictor: EditPredictor;
  readonly #sources: readonly NextEditSource[];
  #current: NextEdit | undefined;
  #cursor: Cursor | undefined;
  #quiet = false;
  #ghostText = false;
  /** After undo, redo or an Escape that found no edit, until the next change. */
  #silent = false;
  #ignored = 0;
  /** Where the last change deleted text, if it did nothing else. */
  #deletedAt: { readonly uri: string; readonly position: Position } | undefined;
  /** Where the user accepted the last edit, until it is undone. */
  #lastAccepted: string | undefined;
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
    this.#predictor = new EditPredictor(deps, this.#clock, this.#tracker);
    const earlier = (uri: string, most: number) => this.#tracker.history.finishedEdits(uri, most);
    const same = [new SameEditSource(earlier), new SameLinesSource(earlier), new RenamedNameSource()];
    this.#sources = [...deps.sources, ...same].sort((a, b) => ORDER.indexOf(a.origin) - ORDER.indexOf(b.origin));
  }

  get current(): NextEdit | undefined {
    return this.#current;
  }

  /** The last request to a model exactly as it was sent. */
  get lastRequest(): LastEditRequest | undefined {
    return this.#predictor.lastRequest;
  }

  /** Why no model is asked for now; undefined: one is, or completions have the same problem and report it. */
  get problem(): OpenCircuit | undefined {
    return this.#predictor.problem;
  }

  /** A key, the model or the settings changed: a request that failed may work now. */
  reconsider(): void {
    this.#predictor.reconsider();
  }

  /** A completion is sent with the model, whose server has few slots. */
  yieldSlot(ref: string): void {
    this.#predictor.yieldSlot(ref);
  }

  /** A chat took slots of the model's server, or it began to load the model. */
  serverChanged(): void {
    const model = this.#deps.model?.(false);
    if (model?.loading || model?.slots === 0) this.#predictor.yieldSlot(model.ref);
  }

  /**
   * The edits of the last minutes as context of completions, without those near the cursor: as diffs, or the text around
   * one of which the earlier text is not known.
   */
  recentEdits(uri: string, line: number): readonly Snippet[] {
    const diffs = this.#tracker.history.recent(SENT_EDITS).flatMap((edit): readonly Snippet[] => {
      const near = edit.uri === uri && Math.abs(edit.line - line) <= NEAR_LINES;
      const path = this.#tracker.document(edit.uri)?.path;
      if (near || path === undefined || this.#clock.now() - edit.time > SENT_EDITS_MS) return [];
      const text = recentEdit(edit, path)?.diff;
      return text === undefined ? [] : [{ kind: 'recent-edit', note: 'Changed', path, line: edit.line, text }];
    });
    const known = new Set(diffs.map(({ path }) => path));
    const others = this.#tracker.snippets(uri, Number.POSITIVE_INFINITY).filter(({ path }) => !known.has(path));
    return [...diffs, ...others.slice(0, SNIPPETS)];
  }

  /** Whether the last change was a deletion at this position, and the text is a part of what the user has removed. */
  restores({ uri }: DocumentText, position: Position, text: string): boolean {
    const deleted = this.#deletedAt;
    if (deleted?.uri !== uri || comparePositions(deleted.position, position) !== 0) return false;
    const edit = this.#tracker.history.finished(uri);
    return edit !== undefined && removes(edit, text);
  }

  documentChanged(change: DocumentChange, document: DocumentText): void {
    if (change.changes.length === 0) return;
    const { uri } = change;
    const [first] = change.changes;
    const deleted = change.reason === undefined && change.changes.length === 1 && first?.text === '';
    this.#deletedAt = deleted ? { uri, position: first.start } : undefined;
    const predicted = this.#isAccepted(change);
    const known = this.#tracker.apply(change, document, { time: this.#clock.now(), predicted }, (each) =>
      this.#follow(uri, each, predicted),
    );
    if (!known && this.#chain.edits.some((edit) => edit.uri === uri)) this.#chain.clear();
    // An accepted edit changes the document in more than one step.
    if (!predicted) this.#chain.keep((edit) => edit.uri !== uri || isApplicable(edit, document));
    if (this.#cursor?.document.uri === uri) this.#cursor = { ...this.#cursor, document };
    this.#silent = change.reason !== undefined;
    if (this.#silent) this.#afterUndo(uri, change);
    if (predicted || this.#cursor?.document.uri === uri) this.#afterChange(change, predicted);
    this.#refresh();
  }

  documentClosed(uri: string): void {
    this.#tracker.close(uri);
    this.#rejections.documentClosed(uri);
    this.#predictor.forget(uri);
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
    const idle = this.#chain.length === 0 && !quiet;
    if (moved && idle && recent > SAME_KEY_MS && recent < RECENT_MS) this.#schedule(MOVED_MS);
    this.#refresh();
  }

  ghostTextShown(shown: boolean): void {
    const hidden = this.#ghostText && !shown;
    this.#ghostText = shown;
    this.#refresh();
    // No model was asked beside ghost text.
    const idle = this.#chain.length === 0 && this.#cancelTimer === undefined;
    if (hidden && idle && this.#isRecent()) this.#schedule(this.#rate.wait(false));
  }

  accepted(edit: NextEdit): void {
    if (!this.#chain.take(edit)) return;
    this.#rate.accepted();
    this.#lastAccepted = edit.uri;
    this.#ignored = 0;
    this.#accepting = { uri: edit.uri, until: this.#clock.now() + ACCEPTING_MS };
    this.#refresh();
  }

  rejected(edit: NextEdit | undefined): void {
    // Nor is anything wanted that a slower source finds.
    this.#finding?.abort();
    if (edit === undefined) {
      this.#silent = true;
      return;
    }
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
    this.#silent = false;
    this.#chain.clear();
    this.#refresh();
    await this.#find(true);
  }

  dispose(): void {
    this.#cancelTimer?.();
    this.#finding?.abort();
    this.#predictor.dispose();
    this.#changed.dispose();
  }

  /** Undoing an accepted edit is a rejection of it. */
  #afterUndo(uri: string, { changes }: DocumentChange): void {
    this.#chain.clear();
    this.#predictor.forget(uri);
    if (this.#lastAccepted !== uri) return;
    this.#lastAccepted = undefined;
    this.#rejections.add({
      uri,
      replacements: changes.map(({ start, text }) => ({ start, end: endOfText(start, text) })),
    });
  }

  #follow(uri: string, change: TrackedChange, predicted: boolean): void {
    this.#rejections.documentChanged(uri, change);
    this.#predictor.documentChanged(uri, change);
    this.#chain.documentChanged(uri, change, predicted);
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
    if (!predicted && !this.#silent) this.#lastAccepted = undefined;
    // Several carets, a formatter or a rename made it: nothing follows from it that the user would expect.
    if (this.#silent || (change.changes.length > 1 && !predicted)) return;
    if (predicted && this.#chain.length > 0) return;
    this.#schedule(predicted ? 0 : this.#rate.wait(endsInWord(change)));
  }

  #schedule(wait: number, pending = 0): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(wait, () => {
      this.#cancelTimer = undefined;
      const busy = pending < MAX_PENDING && this.#deps.completionPending?.() === true;
      if (busy) this.#schedule(PENDING_MS, pending + 1);
      else void this.#find(false);
    });
  }

  /** Looks for edits that follow from the last one of the user, first without a model. */
  async #find(manual: boolean): Promise<void> {
    this.#finding?.abort();
    const cursor = this.#cursor;
    if (cursor === undefined || !this.#mayFind(cursor, manual)) return;
    const finding = new AbortController();
    this.#finding = finding;
    const { signal } = finding;
    const edit = this.#tracker.finished(cursor);
    const found = edit === undefined ? [] : await this.#findWithoutModel(edit, signal, manual);
    if (signal.aborted) return;
    this.#offer(found, cursor.document.uri, edit && basisOf(edit));
    if (this.#chain.length > 0) return;
    const mayAsk = (): boolean => !this.#ghostText && !this.#rate.coolingDown && this.#isOn(cursor, manual);
    const isWanted = (each: FoundEdit): boolean => manual || !this.#rejections.covers(each);
    const predicted = await this.#predictor.find(cursor, { manual, mayAsk, isWanted });
    if (!signal.aborted) this.#offer(this.#select(predicted, manual), cursor.document.uri, undefined);
  }

  #mayFind(cursor: Cursor, manual: boolean): boolean {
    return this.#isOn(cursor, manual) && (manual || (!this.#quiet && !this.#silent && this.#isRecent()));
  }

  #isOn({ document, position }: Cursor, manual: boolean): boolean {
    if (!manual && this.#deps.settings().trigger !== 'automatic') return false;
    return this.#gate.silence({ document, position, trigger: manual ? 'invoke' : 'automatic' }) === undefined;
  }

  #isRecent(): boolean {
    return this.#clock.now() - this.#lastChange < RECENT_MS;
  }

  /** The edits of the first source that has some. All sources work at the same time. */
  async #findWithoutModel(edit: FinishedEdit, signal: AbortSignal, manual: boolean): Promise<readonly FoundEdit[]> {
    const late = delay(this.#clock, manual ? MANUAL_SOURCE_MS : SOURCE_MS, signal).then(() => undefined);
    const answers = this.#sources.map((source) => source.find(edit, signal).catch((): readonly FoundEdit[] => []));
    for (const answer of answers) {
      const inTime = await Promise.race([answer, late]);
      if (signal.aborted) return [];
      const found = this.#select(inTime ?? [], manual);
      if (found.length > 0) return found;
      if (inTime === undefined) void this.#offerLate(answer, edit, signal, manual);
    }
    return [];
  }

  /** A language server can be slow while it loads a project. */
  async #offerLate(
    answer: Promise<readonly FoundEdit[]>,
    edit: FinishedEdit,
    signal: AbortSignal,
    manual: boolean,
  ): Promise<void> {
    const found = this.#select(await answer, manual);
    if (signal.aborted || found.length === 0 || this.#chain.length > 0) return;
    this.#offer(found, edit.document.uri, basisOf(edit));
  }

  #select(found: readonly FoundEdit[], manual: boolean): readonly FoundEdit[] {
    return found.filter((edit) => {
      if (!isApplicable(edit, this.#tracker.document(edit.uri))) return false;
      return manual || !this.#rejections.covers(edit);
    });
  }

  #offer(found: readonly FoundEdit[], home: string, basis: Basis | undefined): void {
    // An edit that is offered in other documents only is not on screen.
    if (this.#chain.head(home) !== undefined) {
      if (this.#chain.confirm(found, basis)) this.#ignored = 0;
      // A shown edit is not replaced by another one. It goes when the user works on without it.
      else if (++this.#ignored < MAX_IGNORED) return;
      else {
        this.#chain.clear();
        this.#predictor.forget(home);
      }
      this.#refresh();
      if (this.#chain.length > 0) return;
    }
    this.#ignored = 0;
    this.#chain.start(found, home, basis);
    this.#refresh();
  }

  /** Updates `current`. */
  #refresh(): void {
    const visible = !this.#quiet && !this.#ghostText && !this.#silent;
    const head = visible ? this.#chain.head(this.#cursor?.document.uri) : undefined;
    const following = Math.max(0, this.#chain.length - 1);
    const shown = this.#current;
    if (
      shown?.id === head?.id &&
      shown?.replacements === head?.replacements &&
      (!head || shown?.following === following)
    )
      return;
    if (shown !== undefined && head !== undefined && shown.id !== head.id) {
      this.#current = undefined;
      this.#changed.fire(undefined);
    }
    this.#current = head === undefined ? undefined : { ...head, following };
    this.#changed.fire(this.#current);
  }
}

/** The lines of the edit. The edits that follow from it hold as long as they stay. */
function basisOf({ document: { uri }, line, after }: FinishedEdit): Basis {
  return { uri, first: line, last: line + Math.max(0, after.length - 1) };
}

/** True if the change typed or deleted a part of a word. */
function endsInWord({ changes: [change] }: DocumentChange): boolean {
  return change !== undefined && /^[\p{L}\p{N}_$]?$/u.test(change.text);
}
