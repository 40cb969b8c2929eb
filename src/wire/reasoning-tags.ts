import { defined } from '../base/json.ts';
import type { Event } from './event.ts';
import { type EventMapper, type Format, withEvents } from './format.ts';
import { joinTextData, PartNumbers, type TextData, type TextEvent } from './part-numbers.ts';

/**
 * Reasoning inside the text of an answer, as servers without a parser for it send it: `<think>` (DeepSeek-R1, Qwen, QwQ),
 * `<thinking>`, `<thought>` (Gemma), `<|channel>thought` (Gemma 4), `<reasoning>`, `[THINK]` (Magistral), `◁think▷` (Kimi-VL), and the channels of
 * gpt-oss (openai/harmony: `<|channel|>analysis<|message|>…<|end|>`). A channel with a recipient (` to=`) is a call (tools/text-call-parser.ts).
 */
const OPENING =
  /^(?:<(think|thinking|thought|reasoning)>|\[(THINK)\]|(<\|channel>)thought|(◁)think▷|(?:<\|start\|>assistant)?<\|channel\|>(\w{1,20})(?![^<\n]{0,80} to=)[^<\n]{0,80}(?:<\|constrain\|>\w{1,20})?<\|message\|>)/;
/** The tags that open a block. */
export const OPENINGS = [
  '<think>',
  '<thinking>',
  '<thought>',
  '<reasoning>',
  '[THINK]',
  '<|channel>thought',
  '◁think▷',
];
const CHANNELS = ['<|channel|>', '<|start|>assistant<|channel|>'];
/** Maximum length of the head of a channel. */
const MAX_HEAD = 200;
/** A closing tag whose opening tag is part of the prompt. In backticks, it is text. */
const ORPHAN = /(?<!`)(?:<\/(?:think|thinking|thought|reasoning)>|\[\/THINK\]|◁\/think▷)/g;
/** The same at the end of a line. In the middle of a line, a text may talk about the tag. */
const ORPHAN_LINE = /(?<!`)(?:<\/(?:think|thinking|thought|reasoning)>|\[\/THINK\]|◁\/think▷)(?=[ \t]{0,16}\n)/g;
/** The end of a channel, or the head of the next one. */
const CHANNEL_END = /<\|(?:end|return|call)\|>|(?=<\|(?:start|channel)\|>)/;
const CHANNEL_TOKENS = ['<|end|>', '<|return|>', '<|call|>', '<|start|>', '<|channel|>'];

/**
 * The channels of gpt-oss as servers send them that drop special tokens: `analysisWe need …assistantfinalThe answer`
 * (sgl-project/sglang#9190, llama-farm/llamafarm#753). They are read only for models that are known to be gpt-oss.
 */
const BARE_OPENING = /^(?:analysis(?=[\p{Lu}\p{Lo}\p{N}"“*#`])|assistant(?:analysis|commentary|final)(?!\p{Ll}| to=))/u;
const BARE_NEXT = /^(?:analysis|commentary|final)(?! to=)/;
/** The name of a channel that the recipient of a call may follow. */
const BARE_HEAD = /^(?:assistant)?(?:analysis|commentary|final)(?: t?o?)?$/;
const BARE_END = /assistant(?=analysis|commentary|final)/;
/** The end of reasoning whose first word is missing too. */
const BARE_ORPHAN = /(?<=[\s.!?…)\]}])assistantfinal(?=[^\s.,;:'"”)`])/g;
/** More characters than any of these ends has, with those around it. */
const LONGEST_ORPHAN = 40;
const BARE_NAMES = ['analysis', 'commentary', 'final'];
const BARE_ENDS = BARE_NAMES.map((name) => `assistant${name}`);

/**
 * Whether the opening tag may be part of the prompt, so that the answer starts inside a block. If it is not `no`, text is
 * kept until a closing tag or the end.
 */
export type StartsInside = 'no' | 'possibly' | 'probably';

export interface TextPiece {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

type State =
  /** Before the answer's text: a block of reasoning may start. */
  | { readonly name: 'start' }
  /**
   * The answer may have started inside a block. All of it is kept until the end is known.
   * `tail`: the end of it that may have the closing tag; `undefined`: it has none.
   */
  | { readonly name: 'held'; readonly tail: string | undefined }
  | { readonly name: 'block'; readonly kind: TextPiece['kind']; readonly end: RegExp; readonly ends: readonly string[] }
  | { readonly name: 'text' };

const START: State = { name: 'start' };
const TEXT: State = { name: 'text' };

/** Splits streamed text into reasoning and the answer. Only text before the answer is reasoning. */
export class ReasoningSplitter {
  readonly #startsInside: StartsInside;
  readonly #bare: boolean;
  #state: State = START;
  #buffer = '';
  /** A bare channel has ended: the name of the next one follows. */
  #afterBare = false;
  /** A block has ended: the blank lines after it are not part of the answer. */
  #afterBlock = false;
  /** The current block has text. */
  #begun = false;

  /** @param bare channels may arrive without their special tokens. */
  constructor(startsInside: StartsInside, bare = false) {
    this.#startsInside = startsInside;
    this.#bare = bare;
  }

  /** Whether all further text is the answer's. */
  get isDone(): boolean {
    return this.#state === TEXT && this.#buffer === '';
  }

  /** The server has separated the reasoning itself. */
  skip(): void {
    if (this.#state === START && this.#buffer === '') this.#state = TEXT;
  }

  push(text: string): readonly TextPiece[] {
    if (this.#state === TEXT) return text === '' ? [] : [{ kind: 'text', text }];
    this.#buffer += text;
    if (this.#state.name === 'held' && this.#state.tail !== undefined) {
      this.#state = { name: 'held', tail: this.#state.tail + text };
    }
    const pieces: TextPiece[] = [];
    while (this.#step(pieces));
    return pieces;
  }

  /** The text is complete. Returns the kept part. */
  end(): readonly TextPiece[] {
    const pieces: TextPiece[] = [];
    const state = this.#state;
    const kind = state.name === 'block' ? state.kind : 'text';
    const blank = this.#afterBlock && this.#buffer.trim() === '';
    if (!blank) this.#emit(pieces, kind, kind === 'text' ? this.#buffer : this.#buffer.trimEnd());
    this.#buffer = '';
    this.#state = TEXT;
    return pieces;
  }

  /** Reads one piece. False if more text is needed. */
  #step(pieces: TextPiece[]): boolean {
    const state = this.#state;
    if (state.name === 'start') return this.#start(pieces);
    if (state.name === 'block') return this.#block(state, pieces);
    if (state.name === 'held') return state.tail !== undefined && this.#held(state.tail, pieces);
    this.#emit(pieces, 'text', this.#buffer);
    this.#buffer = '';
    return false;
  }

  #start(pieces: TextPiece[]): boolean {
    const text = this.#buffer.trimStart();
    const opening = OPENING.exec(text);
    if (opening !== null) {
      this.#buffer = text.slice(opening[0].length);
      this.#state = blockOf(opening);
      this.#begun = false;
      return true;
    }
    const bare = this.#bare ? (this.#afterBare ? BARE_NEXT : BARE_OPENING).exec(text) : null;
    if (bare !== null && !BARE_HEAD.test(text)) {
      this.#buffer = text.slice(bare[0].length);
      this.#state = bareBlock(bare[0]);
      this.#begun = false;
      return true;
    }
    if (text === '' || mayOpen(text) || (this.#bare && mayOpenBare(text, this.#afterBare))) return false;
    if (this.#startsInside !== 'no' && !this.#afterBlock) this.#state = { name: 'held', tail: this.#buffer };
    else {
      if (this.#afterBlock) this.#buffer = withoutBlankLines(this.#buffer);
      this.#state = TEXT;
    }
    return this.#step(pieces);
  }

  #held(tail: string, pieces: TextPiece[]): boolean {
    const before = this.#buffer.length - tail.length;
    // The first character of a shortened tail only tells the character before a tag.
    const from = before === 0 ? 0 : 1;
    const found =
      findFrom(this.#startsInside === 'probably' ? ORPHAN : ORPHAN_LINE, tail, from) ??
      (this.#bare ? findFrom(BARE_ORPHAN, tail, from) : null);
    if (found === null) {
      this.#state = { name: 'held', tail: tail.slice(-LONGEST_ORPHAN) };
      return false;
    }
    const at = before + found.index;
    const reasoning = this.#buffer.slice(0, at);
    if (isInFence(reasoning)) {
      this.#state = { name: 'held', tail: undefined };
      return false;
    }
    this.#emit(pieces, 'reasoning', reasoning.trim());
    this.#close(at + found[0].length);
    return true;
  }

  #block({ kind, end, ends }: Extract<State, { name: 'block' }>, pieces: TextPiece[]): boolean {
    const found = end.exec(this.#buffer);
    if (found !== null) {
      const text = this.#buffer.slice(0, found.index);
      this.#emit(pieces, kind, kind === 'text' ? text : text.trimEnd());
      this.#close(found.index + found[0].length);
      this.#afterBare = end === BARE_END;
      return true;
    }
    const known = this.#buffer.length - partialEnd(this.#buffer, ends);
    // White space at the end of reasoning is dropped.
    const text = kind === 'text' ? this.#buffer.slice(0, known) : this.#buffer.slice(0, known).trimEnd();
    this.#emit(pieces, kind, text);
    this.#buffer = this.#buffer.slice(text.length);
    return false;
  }

  #close(at: number): void {
    this.#buffer = this.#buffer.slice(at);
    this.#afterBlock = true;
    this.#state = START;
  }

  #emit(pieces: TextPiece[], kind: TextPiece['kind'], text: string): void {
    const shown = kind === 'reasoning' && !this.#begun ? text.trimStart() : text;
    if (shown === '') return;
    this.#begun = true;
    pieces.push({ kind, text: shown });
  }
}

function blockOf([, tag, brackets, gemma, kimi, channel]: RegExpExecArray): State {
  if (channel !== undefined) {
    const kind = channel === 'analysis' ? 'reasoning' : 'text';
    return { name: 'block', kind, end: CHANNEL_END, ends: CHANNEL_TOKENS };
  }
  const plain = brackets === undefined ? `</${tag}>` : `[/${brackets}]`;
  const closing = gemma !== undefined ? '<channel|>' : kimi !== undefined ? '◁/think▷' : plain;
  return { name: 'block', kind: 'reasoning', end: closingOf(closing), ends: [`\`${closing}`, closing] };
}

/** @param head `analysis`, or the name of another channel at its end. The last channel is the rest of the text. */
function bareBlock(head: string): State {
  if (head.endsWith('final')) return TEXT;
  const kind = head.endsWith('analysis') ? 'reasoning' : 'text';
  return { name: 'block', kind, end: BARE_END, ends: BARE_ENDS };
}

/** Whether more text decides if a bare channel starts. @param next the name of a channel is due. */
function mayOpenBare(text: string, next: boolean): boolean {
  const heads = next ? BARE_NAMES : ['analysis', ...BARE_ENDS];
  return heads.some((head) => head.startsWith(text)) || BARE_HEAD.test(text);
}

/** A closing tag in backticks is mentioned by the reasoning. */
function closingOf(tag: string): RegExp {
  return new RegExp(`(?<!\`)${tag.replace(/[[\]/|]/g, '\\$&')}`);
}

function mayOpen(text: string): boolean {
  if (OPENINGS.some((opening) => opening.startsWith(text))) return true;
  if (text.length > MAX_HEAD || text.includes('<|message|>')) return false;
  return CHANNELS.some((head) => head.startsWith(text) || text.startsWith(head));
}

/** Length of the end of a text with which one of the tags may begin. */
function partialEnd(text: string, tags: readonly string[]): number {
  const longest = Math.max(...tags.map(({ length }) => length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(-length);
    if (tags.some((tag) => tag.length > length && tag.startsWith(end))) return length;
  }
  return 0;
}

/** The indentation of the first line stays. */
function withoutBlankLines(text: string): string {
  const blank = /^\s*\n/.exec(text)?.[0];
  return blank === undefined ? text.trimStart() : text.slice(blank.length);
}

/** The answer after a closing tag without an opening one; `undefined`: the text has none. */
export function afterOrphanTag(text: string): string | undefined {
  const found = findFrom(ORPHAN, text, 0);
  return found === null ? undefined : text.slice(found.index + found[0].length);
}

/** @param pattern with the flag `g`. */
function findFrom(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}

function isInFence(text: string): boolean {
  return text.split('```').length % 2 === 0;
}

/** Reads answers whose reasoning is in their text. */
export function withReasoningTags(format: Format, startsInside: StartsInside, bareChannels = false): Format {
  const whole = startsInside === 'no' ? 'possibly' : startsInside;
  return {
    ...withEvents(format, () => new TaggedReasoning(startsInside, bareChannels)),
    // The whole text is known, so it can be kept until a closing tag is found.
    readAnswer: withEvents(format, () => new TaggedReasoning(whole, bareChannels)).readAnswer,
  };
}

/** Splits the text parts of an answer, and numbers its parts again. */
class TaggedReasoning implements EventMapper {
  readonly #splitter: ReasoningSplitter;
  readonly #numbers = new PartNumbers();
  /** The part of the text that was kept, and the data that came with it. */
  #textPart = 0;
  #data: TextData = {};

  constructor(startsInside: StartsInside, bareChannels: boolean) {
    this.#splitter = new ReasoningSplitter(startsInside, bareChannels);
  }

  map(events: readonly Event[]): readonly Event[] {
    return events.flatMap((event) => this.#map(event));
  }

  #map(event: Event): Event[] {
    if (event.type === 'start' || event.type === 'usage') return [event];
    if (event.type === 'discard') return [...this.#flush(), { ...event, call: this.#numbers.find(event.call, 'own') }];
    if (event.type === 'finish' || event.type === 'error') return [...this.#flush(), event];
    if (event.type === 'text') return this.#text(event);
    const flushed = event.type === 'reasoning' || event.type === 'reasoning-seal' ? [] : this.#flush();
    if (event.type === 'reasoning') this.#splitter.skip();
    return [...flushed, this.#numbers.apply(event, 'own')];
  }

  #text(event: TextEvent): Event[] {
    if (this.#splitter.isDone) return [this.#numbers.apply(event, 'text')];
    this.#textPart = event.part;
    this.#data = joinTextData(this.#data, event);
    return this.#withData(this.#events(this.#splitter.push(event.text)));
  }

  #flush(): Event[] {
    return this.#splitter.isDone ? [] : this.#withData(this.#events(this.#splitter.end()));
  }

  /** Data that came with kept text belongs to the text that is passed on. Tokens of reasoning have no place. */
  #withData(events: Event[]): Event[] {
    const last = events.at(-1);
    if (last === undefined) return events;
    const { annotations, logprobs } = this.#data;
    this.#data = {};
    if (last.type === 'text') {
      const own = events.some(({ type }) => type === 'reasoning') ? undefined : logprobs;
      return [...events.slice(0, -1), { ...last, ...defined({ annotations, logprobs: own }) }];
    }
    if (annotations === undefined) return events;
    return [...events, { type: 'text', part: this.#numbers.find(this.#textPart, 'text'), text: '', annotations }];
  }

  #events(pieces: readonly TextPiece[]): Event[] {
    return pieces.map(({ kind, text }) => ({ type: kind, part: this.#numbers.find(this.#textPart, kind), text }));
  }
}
