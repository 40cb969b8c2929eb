import type { VirtualClock } from '../../completion/virtual-clock.ts';
import { type Contestant, Editor } from './editor.ts';
import { READING_MS, Rhythm } from './rhythm.ts';
import { pairsOf, random, type Task } from './truth.ts';

export type Policy = 'never' | 'all' | 'word';

export interface Session {
  /** Keys that changed the text: characters, backspaces, acceptances. */
  keys: number;
  /** Of those, the ones after which text was still missing. */
  unfinished: number;
  typed: number;
  accepted: number;
  missing: number;
  /** Milliseconds from a key to ghost text, for keys that were followed by it before the next key. */
  waits: number[];
  flicker: number;
  wrongTails: number;
}

const TYPO = 0.03;

/** A closer that the editor has inserted after the caret, and its offset in the finished file. */
interface Pending {
  readonly closer: string;
  /** White space between the caret and it, once Enter has moved it to a separate line. */
  lead: string;
  readonly at: number;
}

/**
 * Types the missing part of a file as a user does: gaps by a log-normal law, longer ones at line
 * starts and after `(`, three typos in a hundred, brackets closed by the editor. Ghost text that is
 * right and was on screen for 400 ms, to its last line, is accepted according to the policy; a user who sees the text that they
 * want to write reads it instead of typing on.
 */
export class Typist {
  readonly session: Session = {
    keys: 0,
    unfinished: 0,
    typed: 0,
    accepted: 0,
    missing: 0,
    waits: [],
    flicker: 0,
    wrongTails: 0,
  };
  readonly #clock: VirtualClock;
  readonly #random: () => number;
  readonly #rhythm: Rhythm;
  readonly #policy: Policy;
  readonly #task: Task;
  readonly #pairs: Map<number, number>;
  readonly #editor: Editor;
  #pending: Pending[] = [];
  #keyAt: number | undefined;

  constructor(task: Task, policy: Policy, contestant: Contestant, clock: VirtualClock, seed: number) {
    this.#task = task;
    this.#policy = policy;
    this.#clock = clock;
    this.#random = random(seed);
    this.#rhythm = new Rhythm(this.#random);
    this.#pairs = pairsOf(task.file);
    const { file, start, end } = task;
    this.#editor = new Editor(file.slice(0, start), file.slice(end), contestant, clock, () => this.#sawGhost());
    this.session.missing = end - start;
  }

  async run(mostKeys = Number.POSITIVE_INFINITY): Promise<Session> {
    await this.#clock.pass(1_000);
    while (this.#at < this.#task.end && this.session.keys < mostKeys) {
      const wants = await this.#rest();
      if (wants) this.#accept();
      else if (!this.#stepOver()) await this.#typeNext();
      if (this.#at < this.#task.end) this.session.unfinished = this.session.keys;
    }
    this.session.flicker = this.#editor.flicker;
    await this.#clock.pass(3_000);
    this.#editor.close();
    return this.session;
  }

  get #at(): number {
    return this.#editor.before.length;
  }

  /** Waits for the gap before the next key; true: the user accepts the visible suggestion instead. */
  async #rest(): Promise<boolean> {
    await this.#clock.pass(this.#rhythm.gap(this.#editor.before));
    while (this.#wanted()) {
      const since = this.#editor.ghost?.since ?? 0;
      const read = since + READING_MS - this.#clock.now();
      if (read <= 0) return true;
      await this.#clock.pass(Math.min(read, 50));
    }
    return false;
  }

  #wanted(): boolean {
    const ghost = this.#editor.ghost;
    if (ghost === undefined || this.#policy === 'never') return false;
    return this.#task.file.startsWith(ghost.text, this.#at) && this.#at + ghost.text.length <= this.#task.end;
  }

  #accept(): void {
    const ghost = this.#editor.ghost;
    if (ghost === undefined) return;
    const word = /^\s*(?:[\p{L}\p{N}_$]+|[^\p{L}\p{N}_$\s]+)/u.exec(ghost.text)?.[0] ?? ghost.text;
    const text = this.#policy === 'word' ? word : ghost.text;
    this.#key();
    this.#editor.accept(text);
    this.session.accepted += text.length;
    this.#pending = this.#pending.filter(({ at }) => at >= this.#at);
    const right =
      this.#pending.map(({ lead, closer }) => lead + closer).join('') + this.#task.file.slice(this.#task.end);
    if (this.#editor.after.replace(/\s/g, '') === right.replace(/\s/g, '')) return;
    // Word by word, inserted closers are reached only at the end of the suggestion.
    if (this.#policy === 'all') this.session.wrongTails++;
    this.#editor.after = right;
  }

  /** The next text exists already on the next line: moves the caret there. */
  #stepOver(): boolean {
    const [next] = this.#pending;
    const { file } = this.#task;
    if (next === undefined || next.lead === '' || file.slice(this.#at, next.at).trim() !== '') return false;
    const before = file.slice(0, next.at + 1);
    this.#pending.shift();
    this.#editor.move(before, this.#editor.after.slice(next.lead.length + 1));
    this.#keyAt = undefined;
    return true;
  }

  async #typeNext(): Promise<void> {
    const character = this.#task.file[this.#at] ?? '';
    if (/[a-z]/.test(character) && this.#random() < TYPO) {
      this.#key();
      this.#editor.edit(character === 'z' ? 'q' : 'z');
      await this.#clock.pass(this.#rhythm.gap(this.#editor.before) + 80);
      this.#key();
      this.#editor.edit('', { deleted: 1 });
      await this.#clock.pass(this.#rhythm.gap(this.#editor.before));
    }
    this.#key();
    this.session.typed++;
    this.#write(character);
  }

  #write(character: string): void {
    const at = this.#at;
    const { file } = this.#task;
    const [next] = this.#pending;
    if (next !== undefined && next.lead === '' && next.at === at) {
      this.#pending.shift();
      this.#editor.edit(character, { over: 1 });
    } else if (character === '\n') this.#enter(next);
    else if (this.#closes(at)) {
      const closer = this.#pairs.get(at) ?? 0;
      this.#pending.unshift({ closer: file[closer] ?? '', lead: '', at: closer });
      this.#editor.edit(character, { behind: file[closer] ?? '' });
    } else this.#editor.edit(character);
  }

  #closes(at: number): boolean {
    const closer = this.#pairs.get(at);
    return closer !== undefined && closer < this.#task.end && /^(?:$|[\s)\]};,])/.test(this.#editor.after);
  }

  /** Enter indents, and between a pair of brackets moves the closer to a separate line. */
  #enter(next: Pending | undefined): void {
    const indent = /^\n+( *)/.exec(this.#task.file.slice(this.#at))?.[1] ?? '';
    const blankLines = /^\n+/.exec(this.#task.file.slice(this.#at))?.[0].length ?? 1;
    const text = blankLines > 1 ? '\n' : `\n${indent}`;
    const opener = this.#editor.before.at(-1) ?? '';
    if (next !== undefined && next.lead === '' && '([{'.includes(opener) && this.#pairs.get(this.#at - 1) === next.at) {
      const line = this.#editor.before.slice(this.#editor.before.lastIndexOf('\n') + 1);
      next.lead = `\n${/^ */.exec(line)?.[0] ?? ''}`;
      this.#editor.edit(text, { behind: next.lead });
    } else this.#editor.edit(text);
  }

  #key(): void {
    this.session.keys++;
    this.#keyAt = this.#clock.now();
  }

  #sawGhost(): void {
    if (this.#keyAt === undefined) return;
    this.session.waits.push(this.#clock.now() - this.#keyAt);
    this.#keyAt = undefined;
  }
}
