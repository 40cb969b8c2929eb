import { defined } from '../../base/json.ts';
import type { Tool } from '../conversation.ts';
import type { Event } from '../event.ts';
import { type EventMapper, type Format, withEvents } from '../format.ts';
import { joinTextData, PartNumbers, type TextData, type TextEvent } from '../part-numbers.ts';
import { CALL_OPENINGS, type TextCall, TextCallParser } from './text-call-parser.ts';

/*
 * Calls in the text of an answer, as servers without a parser for a model's calls send them. They are the end of the
 * answer: text before them is kept, and text after them means that the answer is about calls and not one. JSON without a
 * tag is a call only as the whole answer.
 */

/** More beginnings of calls in one answer are text. */
const MAX_CANDIDATES = 50;
/** Held text is judged again when it has grown by this factor. */
const GROWTH = 1.25;
const SMALL = 400;
/** Characters of the line and of the paragraph before a call that are looked at. */
const MAX_LINE = 400;
const FIRST = new Set(CALL_OPENINGS.map((each) => each[0]));
/** A line before an example. */
const EXAMPLE =
  /\b(?:e\.g\.|example|for instance|syntax|(?:looks?|written|formatted) (?:like|as)|such as|template|following (?:form|format|text|tag)s?|(?:would|will|must|should|models?|it) (?:write|emit|output|send|produce|return)s?)\b[^.!?\n]{0,120}:\s*$/i;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

export interface TextPieces {
  readonly text: string;
  readonly calls: readonly TextCall[];
}

/** Splits streamed text into the text of an answer and the calls at its end. */
export class TextCallSplitter {
  readonly #parser: TextCallParser;
  /** Text that is not released. A call may begin at its first character. */
  #held = '';
  #holds = false;
  /** Length of the held text at which it is judged again. */
  #judgeAt = 0;
  #candidates = 0;
  /** The beginning of the current line and the last line with text, of the released text. */
  #line = '';
  #before = '';
  #fence = '';
  #hasText = false;

  constructor(tools: readonly Tool[]) {
    this.#parser = new TextCallParser(tools);
  }

  /** @returns the text that is certainly none of a call. */
  push(text: string): string {
    this.#held += text;
    let released = '';
    while (this.#held !== '') {
      if (!this.#holds) {
        const at = this.#findCandidate(false);
        released += this.#release(at);
        if (!this.#holds) return released;
      }
      if (this.#held.length > SMALL && this.#held.length < this.#judgeAt) return released;
      this.#judgeAt = this.#held.length * GROWTH;
      if (this.#parser.parse(this.#held, !this.#hasText) !== 'no') return released;
      released += this.#dropCandidate();
    }
    return released;
  }

  /** The answer is complete. @param mayCall false: it was cut off, so that a call may be incomplete. */
  end(mayCall: boolean): TextPieces {
    let text = '';
    while (mayCall && this.#held !== '') {
      if (!this.#holds) {
        text += this.#release(this.#findCandidate(true));
        if (!this.#holds) break;
      }
      const calls = this.#parser.parse(this.#held, !this.#hasText, true);
      if (typeof calls === 'object') {
        this.#held = '';
        return { text: text.trimEnd(), calls };
      }
      text += this.#dropCandidate();
    }
    text += this.#held;
    this.#held = '';
    this.#holds = false;
    return { text, calls: [] };
  }

  /** All held text is text. */
  flush(): string {
    return this.end(false).text;
  }

  #dropCandidate(): string {
    this.#holds = false;
    // The blanks before JSON are released with its first character.
    const blank = this.#held.length - this.#held.trimStart().length;
    if (CALL_OPENINGS.some((each) => this.#held.startsWith(each, blank))) this.#candidates += 1;
    return this.#release(blank + 1);
  }

  /** @returns where a call may begin in the held text, else its length. Sets `#holds`. */
  #findCandidate(isEnd: boolean): number {
    const text = this.#held;
    if (this.#candidates >= MAX_CANDIDATES) return text.length;
    // The whole answer may be a call.
    if (!this.#hasText) {
      if (isEnd && text.trim() === '') return text.length;
      return this.#hold(0);
    }
    const state = new LineState(this.#line, this.#before, this.#fence);
    for (let at = 0; at < text.length; at++) {
      const character = text[at] ?? '';
      if (FIRST.has(character) && state.mayBegin()) {
        const begins = CALL_OPENINGS.some((each) => text.startsWith(each, at) || each.startsWith(text.slice(at)));
        // Blanks before a call are no text of the answer.
        if (begins) return this.#hold(text.slice(0, at).trimEnd().length);
      }
      state.add(character);
    }
    const end = text.trimEnd().length;
    return isEnd || text.length - end > MAX_LINE ? text.length : end;
  }

  #hold(at: number): number {
    this.#holds = true;
    this.#judgeAt = 0;
    return at;
  }

  #release(length: number): string {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    const state = new LineState(this.#line, this.#before, this.#fence);
    for (const character of text) state.add(character);
    this.#line = state.line;
    this.#before = state.before;
    this.#fence = state.fence;
    this.#hasText ||= text.trim() !== '';
    return text;
  }
}

/** Follows lines and fenced blocks of Markdown. */
class LineState {
  line: string;
  before: string;
  fence: string;

  constructor(line: string, before: string, fence: string) {
    this.line = line;
    this.before = before;
    this.fence = fence;
  }

  add(character: string): void {
    if (character !== '\n') {
      if (this.line.length < MAX_LINE) this.line += character;
      // A mark at its beginning, so that the end of a long line is not taken for a whole one.
      else this.line = `…${this.line.slice(2)}${character}`;
      return;
    }
    const [, run = ''] = FENCE.exec(this.line) ?? [];
    if (this.fence === '') this.fence = run;
    else if (run.startsWith(this.fence)) this.fence = '';
    if (this.line.trim() !== '') this.before = this.line;
    this.line = '';
  }

  /** A call begins on a line of its own or after a sentence, in no code and in no quote, and not as an example. */
  mayBegin(): boolean {
    if (this.fence !== '') return false;
    if (/^ {0,3}$/.test(this.line)) return !EXAMPLE.test(this.before);
    return /^ {0,3}[^\s>|].*[.!?…。！？]\s{0,3}$/.test(this.line) && (this.line.split('`').length - 1) % 2 === 0;
  }
}

/** Reads answers whose calls are in their text. @param tools that were offered. */
export function withTextCalls(format: Format, tools: readonly Tool[]): Format {
  return withEvents(format, () => new CallsInText(tools));
}

/** Turns calls in text parts into calls, and numbers the parts again. */
class CallsInText implements EventMapper {
  readonly #splitter: TextCallSplitter;
  readonly #numbers = new PartNumbers();
  #textPart = 0;
  /** Data that came with the held text. */
  #data: TextData = {};
  /** The server reads calls itself. */
  #isRead = false;
  /** Qwen3.5 forgets to end its reasoning before a call (ggml-org/llama.cpp#21118): the call is then the end of it. */
  readonly #reasoning: TextCallSplitter;
  #hasText = false;

  constructor(tools: readonly Tool[]) {
    this.#splitter = new TextCallSplitter(tools);
    this.#reasoning = new TextCallSplitter(tools);
    // Only tags begin a call there.
    this.#reasoning.push('Thoughts.\n');
  }

  map(events: readonly Event[]): readonly Event[] {
    return events.flatMap((event) => this.#map(event));
  }

  #map(event: Event): Event[] {
    switch (event.type) {
      case 'start':
      case 'usage':
        return [event];
      case 'text':
        return this.#text(event);
      case 'finish':
        return this.#finish(event);
      case 'error':
        return [...this.#released(this.#splitter.flush()), event];
      case 'discard':
        return [{ ...event, call: this.#numbers.find(event.call, 'own') }];
      case 'reasoning':
        this.#reasoning.push(event.text);
        return [this.#numbers.apply(event, 'own')];
      case 'reasoning-seal':
        return [this.#numbers.apply(event, 'own')];
      default:
        this.#isRead = true;
        return [...this.#released(this.#splitter.flush()), this.#numbers.apply(event, 'own')];
    }
  }

  #text(event: TextEvent): Event[] {
    if (this.#isRead) return [this.#numbers.apply(event, 'own')];
    this.#hasText ||= event.text.trim() !== '';
    this.#textPart = event.part;
    this.#data = joinTextData(this.#data, event);
    return this.#released(this.#splitter.push(event.text));
  }

  #finish(event: Extract<Event, { type: 'finish' }>): Event[] {
    const mayCall = !this.#isRead && (event.reason === 'stop' || event.reason === 'tool_calls');
    const { text, calls: own } = this.#splitter.end(mayCall);
    const calls = mayCall && !this.#hasText ? this.#reasoning.end(true).calls : own;
    const events = this.#released(calls.length > 0 ? text.trimEnd() : text);
    if (calls.length === 0) return [...events, event];
    const made = calls.flatMap((call, index): Event[] => {
      const part = this.#numbers.find(index, 'call');
      return [
        { type: 'tool-call', part, id: `call_${index}`, name: call.name },
        { type: 'tool-arguments', part, json: call.arguments, last: true },
      ];
    });
    return [...events, ...made, { type: 'finish', reason: 'tool_calls' }];
  }

  #released(text: string): Event[] {
    const { annotations, logprobs } = this.#data;
    if (text === '') return [];
    this.#data = {};
    const part = this.#numbers.find(this.#textPart, 'own');
    return [defined({ type: 'text' as const, part, text, annotations, logprobs })];
  }
}
