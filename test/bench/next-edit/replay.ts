import { diffArrays } from 'diff';
import type { SendEditRequest } from '../../../src/completion/next-edit/model/edit-predictor.ts';
import type { NextEdit } from '../../../src/completion/next-edit/next-edit.ts';
import { writeEditPrompt } from '../../../src/wire/edit/edit-dialect.ts';
import { NextEditHarness, TestDocument } from '../../completion/next-edit/next-edit-harness.ts';
import { type Mistakes, rewriteRegion } from './region.ts';
import { type EditScript, type Hunk, hunksBetween } from './scripts.ts';

/** How the model answers. `none`: there is no model. */
export interface ModelKind {
  readonly kind: 'none' | 'oracle';
  /** Share of wrong answers in percent. */
  readonly errors: number;
  readonly mistakes?: Mistakes;
}

/** What happened in one script. */
export interface Replayed {
  /** Edits after the first one. */
  readonly edits: number;
  readonly offered: number;
  readonly accepted: number;
  /** Offers that are not in the later version. */
  readonly wrong: number;
  /** Keys of all edits after the first one, typed by hand, and those that were pressed. */
  readonly byHand: number;
  readonly pressed: number;
  readonly requests: number;
  readonly tokens: number;
  /** Milliseconds from the last key of an edit, or from the move of the cursor, to each offer. */
  readonly waits: readonly number[];
}

/** The format of small open models. */
const DIALECT = 'sweep-1';
const LATENCY_MS = 300;
const CHARACTERS_PER_TOKEN = 4;
/** How long the user looks before typing on. */
const PATIENCE_MS = 1_200;
const STEP_MS = 20;
/** More than any script has edits. */
const MAX_ROUNDS = 40;
/** The user sees the edit and presses the key. */
const REACTION_MS = 400;
/** Tab to go there and Tab to accept; one if it is where the cursor is. */
const KEYS_ELSEWHERE = 2;

/** Makes the first edit of a script by hand, then accepts what is right, rejects what is wrong, and types the rest. */
export async function replay(script: EditScript, model: ModelKind): Promise<Replayed> {
  const run = new Replay(script, model);
  await run.typeNext();
  const result = await run.followAll();
  run.dispose();
  return result;
}

class Replay {
  readonly #name: string;
  readonly #after: readonly string[];
  readonly #editor: NextEditHarness;
  #requests = 0;
  #tokens = 0;
  #done = { edits: 0, offered: 0, accepted: 0, wrong: 0, byHand: 0, pressed: 0 };
  readonly #waits: number[] = [];

  constructor({ name, before, after }: EditScript, model: ModelKind) {
    this.#name = name;
    this.#after = after.split('\n');
    const language = name.includes('python') ? 'py' : 'ts';
    this.#editor = new NextEditHarness(
      before,
      model.kind === 'none'
        ? {}
        : {
            model: () => ({ ref: 'oracle/edit', contextTokens: 8_000, dialect: DIALECT }),
            predict: () => this.#predict(model),
          },
      `file:///work/a.${language}`,
    );
  }

  dispose(): void {
    this.#editor.engine.dispose();
  }

  async followAll(): Promise<Replayed> {
    for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
      const [next] = this.#remaining();
      if (next === undefined) break;
      await this.#follow(next);
    }
    if (this.#remaining().length > 0) throw new Error(`${this.#name}: the later version was not reached.`);
    return { ...this.#done, requests: this.#requests, tokens: this.#tokens, waits: this.#waits };
  }

  /** Types the first of the remaining edits. */
  async typeNext(): Promise<number> {
    const [hunk] = this.#remaining();
    return hunk === undefined ? 0 : this.#type(hunk);
  }

  /** One edit: accepted where the last one was made, or after the cursor has moved to it, or typed. */
  async #follow(next: Hunk): Promise<void> {
    const before = this.#remaining().length;
    const found = (await this.#offer()) ?? (await this.#offerAt(next));
    if (found !== undefined) await this.#accept(found);
    else {
      const keys = await this.typeNext();
      this.#done.pressed += keys;
      this.#done.byHand += keys;
    }
    this.#done.edits += Math.max(1, before - this.#remaining().length);
  }

  async #offerAt({ first }: Hunk): Promise<NextEdit | undefined> {
    const { active } = this.#editor;
    this.#editor.moveTo({ line: Math.min(first, active.lines.length - 1), character: 0 });
    return this.#offer();
  }

  /** Waits for an edit that is right. Rejects the others. */
  async #offer(): Promise<NextEdit | undefined> {
    const { clock, engine } = this.#editor;
    for (let waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
      const { current } = engine;
      if (current !== undefined) {
        this.#done.offered++;
        this.#waits.push(waited);
        if (this.#isRight(current)) return current;
        this.#done.wrong++;
        this.#done.pressed++;
        await clock.pass(REACTION_MS);
        engine.rejected(current);
        return undefined;
      }
      await clock.pass(STEP_MS);
    }
    return undefined;
  }

  async #accept(edit: NextEdit): Promise<void> {
    const first = edit.replacements[0];
    const near = first !== undefined && Math.abs(first.start.line - this.#editor.position.line) <= 1;
    this.#done.accepted++;
    this.#done.pressed += near ? 1 : KEYS_ELSEWHERE;
    this.#done.byHand += edit.replacements.reduce((sum, { expected, text }) => sum + keysOf(expected, text), 0);
    await this.#editor.clock.pass(REACTION_MS);
    if (this.#editor.current?.id === edit.id) await this.#editor.accept();
  }

  #remaining(): readonly Hunk[] {
    return hunksBetween(this.#editor.text, this.#after.join('\n'));
  }

  /** True if the edit is a part of what remains to be changed. */
  #isRight({ uri, replacements }: NextEdit): boolean {
    const { lines, text } = this.#editor.active;
    const changed = new TestDocument(uri, text);
    changed.apply(replacements);
    const left = difference(changed.lines, this.#after);
    return (
      left < difference(lines, this.#after) &&
      left + difference(lines, changed.lines) === difference(lines, this.#after)
    );
  }

  async #type({ first, old, text }: Hunk): Promise<number> {
    const editor = this.#editor;
    // The last line has no line break after it.
    const atEnd = first > 0 && first + old.length >= editor.active.lines.length;
    const join = (lines: readonly string[]) => lines.map((line) => (atEnd ? `\n${line}` : `${line}\n`)).join('');
    const [before, after] = [join(old), join(text)];
    const above = editor.active.lines[first - 1]?.length ?? 0;
    const origin = atEnd ? { line: first - 1, character: above } : { line: first, character: 0 };
    let head = 0;
    while (head < before.length && before[head] === after[head]) head++;
    let tail = 0;
    while (tail < Math.min(before.length, after.length) - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
    const removed = before.slice(head, before.length - tail);
    const inserted = after.slice(head, after.length - tail);
    const start = advance(origin, before.slice(0, head));
    editor.moveTo(start);
    await editor.clock.pass(REACTION_MS);
    if (removed !== '') {
      editor.change([{ start, end: advance(start, removed), text: '' }]);
      editor.moveTo(start);
      await editor.clock.pass(80);
    }
    await editor.type(inserted);
    return keysOf(removed, inserted);
  }

  /** Rewrites the region as it is in the later version; sometimes wrong. */
  #predict({ errors, mistakes }: ModelKind): SendEditRequest {
    const { clock } = this.#editor;
    return (request, _options, signal) => {
      this.#requests++;
      const first = request.startLine - 1;
      const region = request.region.split('\n');
      const count = request.region.endsWith('\n') ? region.length - 1 : region.length;
      const lines = this.#editor.active.lines.slice(first, first + count);
      const { text: rewritten } = rewriteRegion(
        { lines, first, cursor: request.cursor },
        this.#remaining(),
        errors,
        mistakes,
      );
      const answer = rewritten + (request.region.endsWith('\n') ? '\n' : '');
      const { text } = writeEditPrompt(DIALECT, request);
      this.#tokens += Math.ceil((text.length + answer.length) / CHARACTERS_PER_TOKEN);
      return answerAfter(clock.sleep(LATENCY_MS), answer, signal);
    };
  }
}

async function* answerAfter(wait: Promise<void>, text: string, signal: AbortSignal) {
  await wait;
  if (signal.aborted) return;
  yield { type: 'text', part: 0, text } as const;
  yield { type: 'finish', reason: 'stop' } as const;
}

/** Lines that are removed and added. */
function difference(before: readonly string[], after: readonly string[]): number {
  return diffArrays([...before], [...after]).reduce(
    (sum, { added, removed, count }) => sum + (added || removed ? count : 0),
    0,
  );
}

/** Deleting a selection is one key. */
function keysOf(removed: string, inserted: string): number {
  return inserted.length + (removed === '' ? 0 : 1);
}

function advance({ line, character }: { readonly line: number; readonly character: number }, text: string) {
  const lines = text.split('\n');
  const last = lines.at(-1) ?? '';
  return { line: line + lines.length - 1, character: lines.length === 1 ? character + last.length : last.length };
}
