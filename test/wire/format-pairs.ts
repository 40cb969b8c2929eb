import type { Conversation } from '../../src/wire/conversation.ts';
import type { Event } from '../../src/wire/event.ts';
import type { AnswerContext, Format, Frame } from '../../src/wire/format.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { SseDecoder } from '../../src/wire/stream/sse.ts';
import { type Script, streamFrames, type Wire, wholeBody } from '../upstream/answers.ts';

export const WIRE: Readonly<Record<FormatName, Wire>> = {
  'chat-completions': 'chat',
  responses: 'responses',
  messages: 'messages',
};

export const FORMAT_LIST: readonly Format[] = Object.values(FORMATS);

/** All nine pairs, the upstream's format first. */
export const PAIRS = FORMAT_LIST.flatMap((from) => FORMAT_LIST.map((to) => ({ from, to })));

export const REQUEST: Conversation = { model: 'm', system: [], turns: [], tools: [], sampling: {}, stream: true };
export const CONTEXT: AnswerContext = { id: 'answer_1', model: 'v/m', created: 1_760_000_000, request: REQUEST };

/** Events of frames written as text. */
export function readEvents(format: Format, frames: readonly string[]): Event[] {
  const decoder = new SseDecoder();
  const reader = format.streamReader();
  const bytes = Buffer.from(frames.map((frame) => `${frame}\n\n`).join(''));
  const events = [...decoder.push(bytes), ...decoder.end()].flatMap((frame) => reader.read(frame));
  return [...events, ...reader.end()];
}

export function streamedEvents(format: Format, script: Script): Event[] {
  return readEvents(format, streamFrames(WIRE[format.name], script));
}

export function wholeEvents(format: Format, script: Script): readonly Event[] {
  return format.readAnswer(wholeBody(WIRE[format.name], script));
}

export function writeFrames(format: Format, events: readonly Event[], context = CONTEXT): Frame[] {
  const writer = format.streamWriter(context);
  return events.flatMap((event) => writer.write(event));
}

/** The `type` of each frame, or the content of a Chat Completions chunk. */
export function kinds(frames: readonly Frame[]): string[] {
  return frames.map((frame) => frame.event ?? chatKind(frame.data));
}

function chatKind(data: string): string {
  if (data === '[DONE]') return data;
  const chunk = JSON.parse(data);
  if (chunk.error) return 'error';
  const choice = chunk.choices[0];
  if (choice === undefined) return 'usage';
  if (choice.finish_reason !== null) return `finish ${choice.finish_reason}`;
  return Object.keys(choice.delta).join('+');
}

/** Answers of a provider by topic. */
export const SCRIPTS: Readonly<Record<string, Script>> = {
  text: { text: ['Hello', ', wörld ', '👋'] },
  'one tool': { tools: [{ id: 'call_1', name: 'weather', arguments: ['{"city":', '"Oslo"}'] }] },
  'two tools': {
    tools: [
      { id: 'call_1', name: 'weather', arguments: ['{"city":', '"Oslo"}'] },
      { id: 'call_2', name: 'clock', arguments: ['{"zone":"CET"}'] },
    ],
  },
  'text then tool': { text: ['Let me look.'], tools: [{ id: 'call_1', name: 'weather', arguments: ['{"a":1}'] }] },
  'tool without arguments': { tools: [{ id: 'call_1', name: 'clock', arguments: [] }] },
  'reasoning then text': { reasoning: ['Hm, ', 'well.'], text: ['Yes', '.'] },
  'reasoning then tool': { reasoning: ['Hm.'], tools: [{ id: 'call_1', name: 'weather', arguments: ['{"a":1}'] }] },
  'cut at its limit': { text: ['Once upon'], finish: 'length' },
  'cached prompt': { text: ['Hi'], usage: { input: 1000, output: 5, cached: 900 } },
  filtered: { text: ['I'], finish: 'filter' },
};
