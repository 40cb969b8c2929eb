import { Agent, request as send } from 'undici';
import { startUpstream } from '../upstream/upstream.ts';
import { KEY, SoakedGateway, type Vitals } from './gateway-process.ts';
import { atLeast, atMost, count, random, type SoakOptions, type SoakPart, type SoakRow } from './part.ts';

const UPSTREAMS = ['chat', 'messages', 'responses'] as const;
/** Scenarios of the upstream with their weights; most are normal answers. */
const SCENARIOS: readonly (readonly [string, number])[] = [
  ['text', 30],
  ['tools', 8],
  ['reasoning-tools', 8],
  ['split-bytes', 2],
  ['no-usage', 3],
  ['status-429-retry-after-1', 4],
  ['status-500', 4],
  ['status-529', 3],
  ['status-401', 2],
  ['html', 3],
  ['empty', 3],
  ['invalid-json', 3],
  ['reset-before-headers', 4],
  ['reset-mid-stream', 5],
  ['reset-mid-character', 3],
  ['stall-mid-stream', 3],
  ['stall-before-headers', 2],
];
/** Milliseconds beyond any time limit of the configuration: an answer that takes longer hangs. */
const HANG_MS = 15_000;
const SAMPLES = 12;

interface Tally {
  answers: number;
  /** Requests that must have a ledger row. */
  accounted: number;
  aborted: number;
  wrong: string[];
}

function config(url: string): unknown {
  const models = { m: { cost: { input: 1, output: 2 }, reasoning: true, limit: { context: 128_000, output: 4_096 } } };
  const options = { baseURL: `${url}/v1`, apiKey: 'k', timeout: 800, chunkTimeout: 800 };
  return {
    provider: {
      chat: { options, models },
      messages: { npm: '@ai-sdk/anthropic', options, models },
      responses: { npm: '@ai-sdk/openai', options, models },
      patient: { options: { baseURL: options.baseURL, apiKey: 'k' }, models },
    },
    gateway: { embeddingModels: { 'chat/e': {} }, fallback: { 'chat/m': ['messages/m'] } },
  };
}

/** Sends one random request and checks that the answer is permitted. */
async function ask(url: string, chance: () => number, tally: Tally): Promise<void> {
  const scenario = weighted(chance());
  const up = UPSTREAMS[Math.floor(chance() * UPSTREAMS.length)] ?? 'chat';
  const stream = chance() < 0.7;
  const content = `[[scenario:${scenario}]] ${'word '.repeat(Math.floor(chance() * 2_000))}`;
  const shapes = [
    { path: '/v1/chat/completions', body: { messages: [{ role: 'user', content }] }, end: '[DONE]' },
    { path: '/messages', body: { messages: [{ role: 'user', content }], max_tokens: 64 }, end: 'message_stop' },
    { path: '/v1/responses', body: { input: content }, end: 'response.completed' },
  ];
  const { path, body, end } = shapes[Math.floor(chance() * shapes.length)] ??
    shapes[0] ?? { path: '', body: {}, end: '' };
  const leave = stream && chance() < 0.1;
  const gone = new AbortController();
  const hang = setTimeout(() => gone.abort(new Error('hangs')), HANG_MS);
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${chance() < 0.02 ? 'wrong' : KEY}` },
      body: JSON.stringify({ model: `${up}/m`, stream, ...body }),
      signal: gone.signal,
    });
    if (leave) {
      await response.body?.getReader().read();
      gone.abort(new Error('left'));
      tally.aborted += 1;
      return;
    }
    const text = await response.text();
    tally.answers += 1;
    if (response.status === 200) tally.accounted += 1;
    const known = response.status === 200 || [400, 401, 429, 503].includes(response.status);
    const ended = response.status !== 200 || !stream || text.includes(end) || text.includes('error');
    if (!known || !ended) tally.wrong.push(`${path} ${up} ${scenario} ${response.status}: ${text.slice(-200)}`);
  } catch (thrown) {
    if (!leave) tally.wrong.push(`${path} ${up} ${scenario}: ${String(gone.signal.reason ?? thrown)}`);
  } finally {
    clearTimeout(hang);
  }
}

function weighted(chance: number): string {
  const total = SCENARIOS.reduce((sum, [, weight]) => sum + weight, 0);
  let left = chance * total;
  for (const [scenario, weight] of SCENARIOS) {
    left -= weight;
    if (left < 0) return scenario;
  }
  return 'text';
}

interface Held {
  /** How many are still open. */
  open: number;
}

/** Streams that stay open and silent for the whole run. Resolves when each has begun. */
async function holdStreams(url: string, streams: number, signal: AbortSignal): Promise<Held> {
  const body = JSON.stringify({
    model: 'patient/m',
    stream: true,
    messages: [{ role: 'user', content: '[[scenario:stall-mid-stream]]' }],
  });
  const held: Held = { open: 0 };
  // The global fetch ends a stream after five silent minutes by itself.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const headers = { authorization: `Bearer ${KEY}` };
  await Promise.all(
    Array.from({ length: streams }, async () => {
      const request = { method: 'POST', headers, body, signal, dispatcher } as const;
      const { statusCode, body: answer } = await send(`${url}/v1/chat/completions`, request);
      if (statusCode !== 200) return;
      const first = new Promise<void>((resolve) => answer.once('data', () => resolve()));
      // Ends with the signal alone.
      answer.once('close', () => {
        held.open -= 1;
      });
      answer.on('error', () => undefined);
      await first;
      held.open += 1;
    }),
  );
  return held;
}

async function soak({ seconds, seed, scale, progress }: SoakOptions): Promise<readonly SoakRow[]> {
  const upstream = await startUpstream();
  const gateway = await SoakedGateway.start(config(upstream.url));
  const tally: Tally = { answers: 0, accounted: 0, aborted: 0, wrong: [] };
  const chance = random(seed);
  const open = new AbortController();
  const streams = scale === 'long' ? 1_000 : 520;
  const held = await holdStreams(gateway.url, streams, open.signal);

  const until = performance.now() + seconds * 1000;
  const work = async () => {
    // On a busy machine a short run may contain no client that disconnects.
    while ((performance.now() < until || tally.aborted === 0) && gateway.alive) await ask(gateway.url, chance, tally);
  };
  const samples: Vitals[] = [];
  const watch = async () => {
    for (let n = 1; n <= SAMPLES && gateway.alive; n += 1) {
      await new Promise((resolve) =>
        setTimeout(resolve, Math.max(0, until - (seconds * 1000 * (SAMPLES - n)) / SAMPLES - performance.now())),
      );
      const vitals = await gateway.vitals();
      samples.push(vitals);
      progress(`${tally.answers} answers, ${(vitals.resident / 1e6).toFixed(0)} MB, ${vitals.handles} handles`);
    }
  };
  await Promise.all([...Array.from({ length: scale === 'long' ? 32 : 12 }, work), watch()]);
  const heldToTheEnd = held.open;
  open.abort();
  const quiet = await untilQuiet(gateway);
  const sockets = await upstream.sockets();
  const { code, log, rows } = await gateway.stop();
  await upstream.close();
  return [
    count('answers', tally.answers),
    count('streams left in the middle', tally.aborted),
    atLeast(`streams held open for ${seconds} s`, heldToTheEnd, streams),
    {
      what: 'answers that no client may get',
      measured: tally.wrong.slice(0, 3).join(' | ') || '0',
      wanted: '0',
      holds: tally.wrong.length === 0,
    },
    atMost('requests that still count as running afterwards', quiet.active, 0),
    atMost('connections to upstreams afterwards', sockets, streams + 64),
    ...growth(samples, scale),
    atLeast('rows in the ledger', rows, tally.accounted),
    {
      what: 'its end',
      measured: `exit code ${code}${/internal error|unhandled/i.exec(log)?.[0] ?? ''}`,
      wanted: 'exit code 0',
      holds: code === 0 && !/internal error|unhandled/i.test(log),
    },
  ];
}

/** Requests whose client has left end within moments; waits for them, at most five seconds. */
async function untilQuiet(gateway: SoakedGateway): Promise<Vitals> {
  let vitals = await gateway.vitals();
  for (let tries = 0; tries < 50 && vitals.active > 1; tries += 1) {
    // The gateway is another process and reports its active requests only on request.
    await new Promise((resolve) => setTimeout(resolve, 100));
    vitals = await gateway.vitals();
  }
  // The request for the vitals is active itself.
  return { ...vitals, active: vitals.active - 1 };
}

/** Compares the last third with the second; the first is warm-up. */
function growth(samples: readonly Vitals[], scale: SoakOptions['scale']): SoakRow[] {
  const third = Math.floor(samples.length / 3);
  const least = (from: number, of: (vitals: Vitals) => number) =>
    Math.min(...samples.slice(from, from + third).map(of));
  const added = (of: (vitals: Vitals) => number) => least(2 * third, of) - least(third, of);
  // A run of seconds allows more growth, because code and caches are still being loaded.
  const allowed = scale === 'long' ? 10 : 60;
  return [
    atMost('growth of resident memory', added(({ resident }) => resident) / 1e6, allowed, ' MB'),
    atMost('growth of the heap', added(({ heap }) => heap) / 1e6, allowed, ' MB'),
    atMost(
      'growth of handles',
      added(({ handles }) => handles),
      scale === 'long' ? 16 : 64,
    ),
  ];
}

export const gatewayPart: SoakPart = { name: 'gateway', run: soak };
