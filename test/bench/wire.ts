/**
 * Frames a second of one core: `npm run bench:wire`. Reading, translating and passing a stream through,
 * compared with the minimum: `eventsource-parser` and `JSON.parse` alone on the same bytes. Writes its section of
 * docs/performance.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createParser } from 'eventsource-parser';
import { StreamTransform } from '../../src/gateway/relay/stream-transform.ts';
import { TranslatingTransform } from '../../src/gateway/relay/translating-transform.ts';
import type { Format } from '../../src/wire/format.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { FrameSplitter } from '../../src/wire/stream/frame-splitter.ts';
import { SseDecoder } from '../../src/wire/stream/sse.ts';
import { streamFrames } from '../upstream/answers.ts';

const WIRES = { 'chat-completions': 'chat', responses: 'responses', messages: 'messages' } as const;
const NAMES: readonly FormatName[] = ['chat-completions', 'messages', 'responses'];
const PIECES = 4_000;
const ROUNDS = 9;
/** As a socket delivers them: several frames at a time. */
const CHUNK_BYTES = 1_400;

/** One answer of text, as its upstream streams it. */
function streamOf(format: FormatName): { readonly chunks: readonly Buffer[]; readonly frames: number } {
  const frames = streamFrames(WIRES[format], { text: Array.from({ length: PIECES }, (_, n) => ` word${n % 97}`) });
  const bytes = Buffer.from(frames.map((frame) => `${frame}\n\n`).join(''));
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) chunks.push(bytes.subarray(at, at + CHUNK_BYTES));
  return { chunks, frames: frames.length };
}

const request = {
  'chat-completions': { model: 'a/b', stream: true, messages: [{ role: 'user', content: 'Hi' }] },
  messages: { model: 'a/b', stream: true, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'a/b', stream: true, input: 'Hi' },
} as const;

function contextOf(client: Format) {
  return { id: 'req_1', model: 'a/b', created: 1, request: client.readRequest(request[client.name]) };
}

type Work = (chunks: readonly Buffer[]) => number;

function floor(chunks: readonly Buffer[]): number {
  let seen = 0;
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') JSON.parse(data);
      seen += 1;
    },
  });
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
  return seen;
}

const read =
  (format: Format): Work =>
  (chunks) => {
    const decoder = new SseDecoder();
    const reader = format.streamReader();
    let events = 0;
    for (const chunk of chunks) for (const frame of decoder.push(chunk)) events += reader.read(frame).length;
    return events + reader.end().length;
  };

const translate =
  (upstream: Format, client: Format): Work =>
  (chunks) => {
    const transform = new TranslatingTransform(upstream, client, contextOf(client), false);
    let bytes = 0;
    for (const chunk of chunks) bytes += transform.pass(chunk).length;
    return bytes + transform.end().bytes.length;
  };

const pass =
  (format: Format): Work =>
  (chunks) => {
    const converter = () => new TranslatingTransform(format, format, contextOf(format), false);
    const transform = new StreamTransform({ format: format.name, provider: 'p', byok: false, converter });
    const cutter = new FrameSplitter();
    let bytes = 0;
    for (const chunk of chunks) {
      const frames = cutter.push(chunk);
      if (frames) bytes += transform.pass(frames).length;
    }
    return bytes + transform.end().bytes.length;
  };

interface Measured {
  readonly name: string;
  readonly format: FormatName;
  readonly work: Work;
  readonly seconds: number[];
}

const cases: Measured[] = NAMES.flatMap((name) => {
  const of = (what: string, work: Work): Measured => ({ name: what, format: name, work, seconds: [] });
  return [
    of('floor', floor),
    of('read', read(FORMATS[name])),
    ...NAMES.filter((other) => other !== name).map((other) =>
      of(`to ${other}`, translate(FORMATS[name], FORMATS[other])),
    ),
    of('pass through', pass(FORMATS[name])),
  ];
});
const streams = Object.fromEntries(NAMES.map((name) => [name, streamOf(name)]));

for (let round = -2; round < ROUNDS; round += 1) {
  for (const { format, work, seconds } of cases) {
    const { chunks = [] } = streams[format] ?? {};
    const startedAt = performance.now();
    if (work(chunks) === 0) throw new Error(`Nothing was read of ${format}.`);
    if (round >= 0) seconds.push((performance.now() - startedAt) / 1000);
  }
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const floorOf = (format: FormatName) => cases.find((each) => each.format === format && each.name === 'floor');
const rows = cases.map(({ name, format, seconds }) => {
  const frames = streams[format]?.frames ?? 0;
  // Within each round, so that what slows the machine down slows both.
  const beside = floorOf(format)?.seconds ?? [];
  const ratio = median(seconds.map((value, round) => value / (beside[round] ?? Number.NaN)));
  return { name, format, perSecond: frames / median(seconds), ratio };
});
const translations = rows.filter(({ name }) => name.startsWith('to '));
const worst = Math.max(...translations.map(({ ratio }) => ratio));
const table = [
  '## Streams, one core',
  '',
  `\`npm run bench:wire\`: an answer of ${PIECES.toLocaleString('en-US')} pieces of text as its upstream streams it, read in pieces of ${CHUNK_BYTES} bytes; medians of ${ROUNDS} rounds, the ratio within each round. The floor is \`eventsource-parser\` with \`JSON.parse\` on the same bytes and nothing more. Translating is reading, changing and writing again, to bytes.`,
  '',
  `Translation costs at most 2 times the floor: ${worst.toFixed(2)} at worst, ${worst <= 2 ? 'holds' : 'does not hold'}.`,
  '',
  '| upstream | what | frames a second | time, of the floor’s |',
  '|---|---|---|---|',
  ...rows.map(
    ({ name, format, perSecond, ratio }) =>
      `| ${format} | ${name} | ${Math.round(perSecond).toLocaleString('en-US')} | ${ratio.toFixed(2)} |`,
  ),
].join('\n');
console.log(table);
const file = new URL('../../docs/performance.md', import.meta.url);
const text = readFileSync(file, 'utf8');
const section = `<!-- wire -->\n${table}\n<!-- /wire -->`;
const marked = /<!-- wire -->[\s\S]*<!-- \/wire -->/;
writeFileSync(file, marked.test(text) ? text.replace(marked, () => section) : `${text.trimEnd()}\n\n${section}\n`);
process.exitCode = worst <= 2 ? 0 : 1;
