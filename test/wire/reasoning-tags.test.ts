import assert from 'node:assert/strict';
import { chatCompletions } from '../../src/wire/chat-completions/format.ts';
import type { Event } from '../../src/wire/event.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { ReasoningSplitter, type StartsInside, withReasoningTags } from '../../src/wire/reasoning-tags.ts';
import { assertLinear } from '../linear-time.ts';
import { CONTEXT, writeFrames } from './format-pairs.ts';

type Case = readonly [name: string, startsInside: StartsInside, text: string, reasoning: string, answer: string];

const CASES: readonly Case[] = [
  [
    '<think>',
    'no',
    '<think>\nI think **hard**.\n</think>\n\nThe answer is 4.',
    'I think **hard**.',
    'The answer is 4.',
  ],
  ['<thinking>', 'no', '<thinking>a\n\nb</thinking>\nc', 'a\n\nb', 'c'],
  ['<thought>', 'no', '\n<thought>a</thought>b', 'a', 'b'],
  ['<reasoning>', 'no', '<reasoning>a</reasoning> b', 'a', 'b'],
  ['[THINK]', 'no', '[THINK]a[/THINK]b', 'a', 'b'],
  ['Gemma 4', 'no', '<|channel>thought\nI think | hard.\n<channel|>The answer.', 'I think | hard.', 'The answer.'],
  ['Gemma 4 without thoughts', 'no', '<|channel>thought\n<channel|>The answer.', '', 'The answer.'],
  ['Kimi-VL', 'no', '◁think▷I think ◁hard▷.◁/think▷The answer.', 'I think ◁hard▷.', 'The answer.'],
  ['Kimi-VL without the opening tag', 'probably', 'a\nb◁/think▷c', 'a\nb', 'c'],
  ['prose about the tag of Kimi-VL', 'no', 'Kimi writes ◁think▷a◁/think▷.', '', 'Kimi writes ◁think▷a◁/think▷.'],
  ['two blocks', 'no', '<think>a</think>\n<think>b</think>\nc', 'ab', 'c'],
  ['an empty block', 'no', '<think>\n\n</think>\n\nc', '', 'c'],
  ['a missing closing tag', 'no', '<think>a\nb', 'a\nb', ''],
  ['a missing opening tag', 'probably', 'a\nb\n</think>\n\nc', 'a\nb', 'c'],
  ['a missing opening tag on one line', 'probably', 'a</think>c', 'a', 'c'],
  ['a missing opening tag, possibly', 'possibly', 'a\n</think>\nc', 'a', 'c'],
  ['no tags where they may be missing', 'probably', 'a\nb', '', 'a\nb'],
  ['a closing tag in backticks in reasoning', 'no', '<think>a `</think>` b</think>c', 'a `</think>` b', 'c'],
  ['a fence in reasoning', 'no', '<think>\n```\nx\n```\n</think>\n\n```ts\ny\n```', '```\nx\n```', '```ts\ny\n```'],
  ['indented code after a block', 'no', '<think>a</think>\n\n    return 1', 'a', '    return 1'],
  [
    'the channels of gpt-oss',
    'no',
    '<|channel|>analysis<|message|>a b<|end|><|start|>assistant<|channel|>final<|message|>c d<|return|>',
    'a b',
    'c d',
  ],
  [
    'several channels',
    'no',
    '<|start|>assistant<|channel|>analysis<|message|>a<|end|><|channel|>commentary<|message|>b <|end|><|channel|>final<|message|>c',
    'a',
    'b c',
  ],
  ['a channel without an end', 'no', '<|channel|>analysis<|message|>a<|channel|>final<|message|>c', 'a', 'c'],
  ['prose about the tag', 'no', 'Use `<think>` or <think>x</think>.', '', 'Use `<think>` or <think>x</think>.'],
  ['code with the tag', 'no', '```html\n<think>\n</think>\n```', '', '```html\n<think>\n</think>\n```'],
  ['a closing tag in the text', 'possibly', 'Close it by </think> here.\n', '', 'Close it by </think> here.\n'],
  ['a closing tag in a fence', 'possibly', '```\n</think>\n```\n', '', '```\n</think>\n```\n'],
  ['another element', 'no', '<thing>x</thing>', '', '<thing>x</thing>'],
  ['a list', 'no', '[1, 2]', '', '[1, 2]'],
  ['the start of a tag', 'no', '<thin', '', '<thin'],
  ['blanks', 'no', '  a ', '', '  a '],
];

/** Answers of gpt-oss through servers that drop the special tokens. */
const BARE_CASES: readonly Case[] = [
  [
    'analysis and final',
    'no',
    'analysisWe need "four". And else.assistantfinalfour',
    'We need "four". And else.',
    'four',
  ],
  [
    'the same where it may start inside',
    'probably',
    "analysisUser asks 'hi'...assistantfinalHello!",
    "User asks 'hi'...",
    'Hello!',
  ],
  ['final only', 'no', 'assistantfinalThe answer is 4.', '', 'The answer is 4.'],
  ['analysis that was cut off', 'no', 'analysisWe need to', 'We need to', ''],
  [
    'three channels',
    'no',
    'analysisA.assistantcommentaryI look.assistantanalysisB.assistantfinalC',
    'A.B.',
    'I look.C',
  ],
  [
    'a call stays visible',
    'no',
    'analysisA.assistantcommentary to=functions.f json{}',
    'A.',
    'commentary to=functions.f json{}',
  ],
  ['a missing first word', 'probably', 'We do it.assistantfinalApplied', 'We do it.', 'Applied'],
  ['special tokens', 'no', '<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>c', 'a', 'c'],
  ['prose that starts with the word', 'no', 'analysis of the code: it works', '', 'analysis of the code: it works'],
  ['prose in lower case', 'probably', 'analysisof assistantfinal.', '', 'analysisof assistantfinal.'],
  ['a heading', 'no', 'Analysis\n\nIt works.', '', 'Analysis\n\nIt works.'],
  [
    'prose about the words',
    'probably',
    'It prints `assistantfinal` and “assistantfinal”.',
    '',
    'It prints `assistantfinal` and “assistantfinal”.',
  ],
  ['an identifier', 'no', 'assistantfinalizer.run()', '', 'assistantfinalizer.run()'],
  ['the start of a word', 'no', 'assist', '', 'assist'],
  ['the word alone', 'no', 'analysis', '', 'analysis'],
];

function joined(pieces: readonly { readonly kind: string; readonly text: string }[], kind: string): string {
  return pieces.map((piece) => (piece.kind === kind ? piece.text : '')).join('');
}

describe('reasoning in the text of an answer', () => {
  for (const [name, startsInside, text, reasoning, answer] of CASES) {
    it(`reasoning tags: ${name}: split at each place and at all`, () => {
      const splits = [...Array(text.length + 1).keys()].map((at) => [text.slice(0, at), text.slice(at)]);
      for (const pieces of [[...text], ...splits]) {
        const splitter = new ReasoningSplitter(startsInside);
        const found = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
        assert.equal(joined(found, 'reasoning'), reasoning, JSON.stringify(pieces));
        assert.equal(joined(found, 'text'), answer, JSON.stringify(pieces));
      }
    });
  }

  for (const [name, startsInside, text, reasoning, answer] of BARE_CASES) {
    it(`reasoning tags: channels without special tokens: ${name}: split at each place and at all`, () => {
      const splits = [...Array(text.length + 1).keys()].map((at) => [text.slice(0, at), text.slice(at)]);
      for (const pieces of [[...text], ...splits]) {
        const splitter = new ReasoningSplitter(startsInside, true);
        const found = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
        assert.equal(joined(found, 'reasoning'), reasoning, JSON.stringify(pieces));
        assert.equal(joined(found, 'text'), answer, JSON.stringify(pieces));
      }
      if (reasoning === '' || text.startsWith('<')) return;
      const other = new ReasoningSplitter('no');
      assert.equal(joined([...other.push(text), ...other.end()], 'text'), text, 'only of gpt-oss');
    });
  }

  const LONG = 'We think. '.repeat(20);
  const LATE: readonly Case[] = [
    ['at the end of a line', 'possibly', `${LONG}\n</think> \t\nc`, LONG.trim(), 'c'],
    ['anywhere', 'probably', `${LONG}</thinking>c`, LONG.trim(), 'c'],
    ['in backticks', 'probably', `${LONG}\`</think>\` ${LONG}</think>c`, `${LONG}\`</think>\` ${LONG}`.trim(), 'c'],
    ['in backticks only', 'probably', `${LONG}\`</think>\`${LONG}`, '', `${LONG}\`</think>\`${LONG}`],
    ['in a fence', 'probably', `${LONG}\n\`\`\`\n</think>\n${LONG}`, '', `${LONG}\n\`\`\`\n</think>\n${LONG}`],
    ['a channel', 'probably', `${LONG}We do.assistantfinalc`, `${LONG}We do.`, 'c'],
  ];
  for (const [name, startsInside, text, reasoning, answer] of LATE) {
    it(`reasoning tags: a closing tag after long reasoning: ${name}: split into pieces of each size`, () => {
      for (let size = 1; size <= text.length; size++) {
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
        const splitter = new ReasoningSplitter(startsInside, true);
        const found = [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
        assert.equal(joined(found, 'reasoning'), reasoning, String(size));
        assert.equal(joined(found, 'text'), answer, String(size));
      }
    });
  }

  const REPEATED = { words: 'We think. ', tags: '`</think>` ', blanks: '</think> ', channels: '(assistantfinal. ' };
  for (const [what, text] of Object.entries(REPEATED)) {
    for (const startsInside of ['possibly', 'probably'] as const) {
      it(`reasoning tags: kept text is read in linear time: ${what}, ${startsInside}`, () =>
        assertLinear(
          2_000,
          (size) =>
            `${LONG}${what === 'blanks' ? '\n```\n</think>' : ''}${text.repeat(size)}`.match(/[\s\S]{1,4}/g) ?? [],
          (pieces) => {
            const splitter = new ReasoningSplitter(startsInside, true);
            for (const piece of pieces) splitter.push(piece);
          },
        ));
    }
  }

  it('reasoning tags: reasoning arrives before its end', () => {
    const splitter = new ReasoningSplitter('no');
    assert.equal(joined(splitter.push('<think>one two'), 'reasoning'), 'one two');
  });

  const format = withReasoningTags(chatCompletions, 'no');
  const chunk = (delta: object, finish: string | null = null) => ({
    data: JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] }),
  });
  const read = (...deltas: readonly object[]): readonly Event[] => {
    const reader = format.streamReader();
    const frames = [...deltas.map((delta) => chunk(delta)), chunk({}, 'stop'), { data: '[DONE]' }];
    return frames.flatMap((frame) => reader.read(frame));
  };

  it('reasoning tags: parts of a stream are numbered without gaps, with a tool call after the text', () => {
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const events = read({ content: '<think>a</th' }, { content: 'ink>b' }, { tool_calls: [call] });
    const parts = events.flatMap((event) => ('part' in event ? [`${event.type} ${event.part}`] : []));
    assert.deepEqual([...new Set(parts)], ['reasoning 0', 'text 1', 'tool-call 2', 'tool-arguments 2']);
    assert.deepEqual(
      foldEvents(events).parts.map(({ type }) => type),
      ['reasoning', 'text', 'tool-call'],
    );
  });

  it('reasoning tags: a text after separate reasoning is not searched', () => {
    const events = read({ reasoning_content: 'a' }, { content: '<think>b</think>c' });
    assert.deepEqual(
      foldEvents(events).parts.map((part) => ('text' in part ? part.text : '')),
      ['a', '<think>b</think>c'],
    );
  });

  it('reasoning details: do not repeat the text of `reasoning_content`, and return with it', () => {
    const events: readonly Event[] = [
      { type: 'start', id: 'x' },
      { type: 'reasoning', part: 0, text: 'Hm.' },
      { type: 'reasoning-seal', part: 0, seal: { vendor: 'messages', signature: 'SIGNED' } },
      { type: 'text', part: 1, text: 'a' },
      { type: 'finish', reason: 'stop' },
    ];
    const frames = writeFrames(chatCompletions, events);
    const streamed = frames.map(({ data }) => data).join('\n');
    const { choices } = chatCompletions.writeAnswer(CONTEXT, events);
    for (const written of [streamed, JSON.stringify(choices)]) {
      assert.equal(written.split('Hm.').length, 2, written);
      assert.match(written, /reasoning_details/);
    }
    const message = Reflect.get(Array.isArray(choices) ? choices[0] : {}, 'message');
    for (const history of [message, { ...message, reasoning_content: undefined }]) {
      const { turns } = chatCompletions.readRequest({
        model: 'm',
        messages: [{ role: 'user', content: 'q' }, history],
      });
      const [reasoning] = turns[1]?.parts ?? [];
      assert.deepEqual(reasoning, {
        type: 'reasoning',
        text: 'Hm.',
        seals: [{ vendor: 'messages', signature: 'SIGNED' }],
      });
    }
  });

  it('reasoning tags: a whole answer is split, also without an opening tag', () => {
    for (const content of ['<think>a</think>b', 'a\n</think>\nb']) {
      const events = format.readAnswer({ choices: [{ message: { content }, finish_reason: 'stop' }] });
      assert.deepEqual(
        foldEvents(events).parts.map((part) => ('text' in part ? `${part.type} ${part.text}` : '')),
        ['reasoning a', 'text b'],
      );
    }
  });
});
