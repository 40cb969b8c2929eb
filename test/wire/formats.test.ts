import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Conversation, Turn } from '../../src/wire/conversation.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { frameText, SseDecoder } from '../../src/wire/stream/sse.ts';
import { streamFrames } from '../upstream/answers.ts';
import {
  CONTEXT,
  FORMAT_LIST,
  PAIRS,
  readEvents,
  SCRIPTS,
  streamedEvents,
  WIRE,
  wholeEvents,
  writeFrames,
} from './format-pairs.ts';

describe('whole and streamed answers', () => {
  for (const format of FORMAT_LIST) {
    for (const [name, script] of Object.entries(SCRIPTS)) {
      it(`stream: ${format.name}: its events give the whole answer: ${name}`, () => {
        // Reasoning of a Messages block starts with an empty delta; the result is the same.
        assert.deepEqual(foldEvents(streamedEvents(format, script)), foldEvents(wholeEvents(format, script)));
      });
    }

    it(`stream: ${format.name}: its events are the same for any split into bytes`, () => {
      const bytes = Buffer.from(
        streamFrames(WIRE[format.name], SCRIPTS.text ?? {})
          .map((frame) => `${frame}\n\n`)
          .join(''),
      );
      const expected = foldEvents(streamedEvents(format, SCRIPTS.text ?? {}));
      for (let at = 0; at <= bytes.length; at++) {
        const decoder = new SseDecoder();
        const reader = format.streamReader();
        const frames = [...decoder.push(bytes.subarray(0, at)), ...decoder.push(bytes.subarray(at)), ...decoder.end()];
        assert.deepEqual(foldEvents([...frames.flatMap((frame) => reader.read(frame)), ...reader.end()]), expected);
      }
    });
  }
});

describe('an answer converted between formats', () => {
  for (const { from, to } of PAIRS) {
    for (const [name, script] of Object.entries(SCRIPTS)) {
      it(`conversion keeps the answer from ${from.name} to ${to.name}: ${name}`, () => {
        const original = foldEvents(streamedEvents(from, script));
        const frames = writeFrames(to, streamedEvents(from, script)).map((frame) => frameText(frame).trimEnd());
        const carried = foldEvents(readEvents(to, frames));
        const shown = (answer: typeof original): unknown => ({
          ...answer,
          id: '',
          model: '',
          created: 0,
          usage: { ...answer.usage, reasoning: 0, cacheWrite: 0, cacheRead: answer.usage?.cacheRead ?? 0 },
          parts: answer.parts.map((part) => {
            if (part.type === 'reasoning') return { ...part, seals: [] };
            return part.type === 'tool-call' ? { ...part, arguments: part.arguments || '{}' } : part;
          }),
        });
        assert.deepEqual(shown(carried), shown(original));
      });
    }
  }

  it('conversion: an Anthropic signature survives a Chat Completions client', () => {
    const script = { reasoning: ['Hm.'], tools: [{ id: 'c', name: 'f', arguments: ['{}'] }] };
    const answer = FORMATS['chat-completions'].writeAnswer(CONTEXT, wholeEvents(FORMATS.messages, script));
    const [choice] = answer.choices as { message: Record<string, unknown> }[];
    const body = {
      model: 'm',
      messages: [{ role: 'user', content: 'q' }, choice?.message, { role: 'tool', tool_call_id: 'c', content: 'r' }],
    };
    const next = FORMATS.messages.writeRequest(FORMATS['chat-completions'].readRequest(body));
    assert.deepEqual((next.messages as { content: unknown }[])[1]?.content, [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig-1' },
      { type: 'tool_use', id: 'c', name: 'f', input: {} },
    ]);
  });
});

const word = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() === text && text !== '');
const json = fc
  .dictionary(fc.constantFrom('a', 'b'), fc.integer(), { maxKeys: 2 })
  .map((value) => JSON.stringify(value));
const text = word.map((value) => ({ type: 'text' as const, text: value }));
const image = fc.constantFrom(
  { type: 'image' as const, media: { kind: 'url' as const, url: 'https://x.test/a.png' } },
  { type: 'image' as const, media: { kind: 'data' as const, mediaType: 'image/png', base64: 'iVBORw0KGgo=' } },
);
const pdf = fc.constant({
  type: 'file' as const,
  media: { kind: 'data' as const, mediaType: 'application/pdf', base64: 'JVBERi0=' },
  filename: 'a.pdf',
});

/** A question, then rounds of an answer with calls and their results, which all three formats support. */
const turns: fc.Arbitrary<Turn[]> = fc
  .tuple(
    fc.array(fc.oneof(text, image, pdf), { minLength: 1, maxLength: 3 }),
    fc.array(fc.record({ said: text, calls: fc.array(fc.tuple(word, json, text), { maxLength: 3 }), next: text }), {
      maxLength: 3,
    }),
  )
  .map(([question, rounds]) => [
    { role: 'user' as const, parts: question },
    ...rounds.flatMap(({ said, calls, next }, round): Turn[] => {
      const id = (index: number): string => `call_${round}_${index}`;
      const parts = calls.map(([name, args], index) => ({
        type: 'tool-call' as const,
        id: id(index),
        name,
        arguments: args,
      }));
      const results = calls.map(([, , result], index) => ({
        type: 'tool-result' as const,
        id: id(index),
        content: [result],
      }));
      const answer: Turn = { role: 'assistant', parts: [said, ...parts] };
      return results.length > 0
        ? [answer, { role: 'user', parts: results }]
        : [answer, { role: 'user', parts: [next] }];
    }),
  ]);

const conversation: fc.Arbitrary<Conversation> = fc.record(
  {
    model: word,
    system: fc.array(text, { maxLength: 1 }),
    turns,
    tools: fc.constantFrom(
      [],
      [{ name: 'f', description: 'd', parameters: { type: 'object', anyOf: [{ required: ['a'] }] }, strict: true }],
    ),
    sampling: fc.record({ temperature: fc.constantFrom(0, 0.5, 1) }, { noNullPrototype: true }),
    maxTokens: fc.integer({ min: 16, max: 100_000 }),
    stream: fc.boolean(),
  },
  { noNullPrototype: true },
);

describe('conversion of requests', () => {
  for (const format of FORMAT_LIST) {
    it(`request: writing to ${format.name} and reading gives the same request`, () => {
      fc.assert(
        fc.property(conversation, (asked) => assert.deepEqual(format.readRequest(format.writeRequest(asked)), asked)),
      );
    });
  }

  it('request: conversion through any two formats keeps its meaning', () => {
    fc.assert(
      fc.property(conversation, fc.constantFrom(...PAIRS), (asked, { from, to }) => {
        const carried = to.readRequest(to.writeRequest(from.readRequest(from.writeRequest(asked))));
        assert.deepEqual(carried, asked);
      }),
    );
  });
});
