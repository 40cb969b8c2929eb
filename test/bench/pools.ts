/**
 * What a pool of three members gains, against three simulated providers in this process: `npm run bench:pools`.
 * Writes the table of docs/performance.md between its markers.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KEY, ServeHarness, type ServeProcess } from '../gateway/serve-harness.ts';
import { type Responder, startUpstream, type Upstream } from '../upstream/upstream.ts';

const MEMBERS = ['a', 'b', 'c'] as const;
const QUICK_MS = 20;
const SLOW_MS = 500;
const FLAP_MS = 300;

interface Message {
  readonly role: string;
  readonly content: string;
}

/** A provider that keeps the prompts that it has seen, as prompt caches do: whole prefixes of messages. */
class SimulatedProvider {
  readonly #cache = new Set<string>();
  prompt = 0;
  cached = 0;

  readonly answer: Responder = async ({ body }, response) => {
    const messages = body.messages as readonly Message[];
    const prefixes = messages.map((_, index) => JSON.stringify(messages.slice(0, index + 1)));
    const known = prefixes.findLast((prefix) => this.#cache.has(prefix))?.length ?? 0;
    const prompt = prefixes.at(-1)?.length ?? 0;
    for (const prefix of prefixes) this.#cache.add(prefix);
    this.prompt += prompt;
    this.cached += known;
    await sleep(QUICK_MS);
    const usage = {
      prompt_tokens: prompt >> 2,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: known >> 2 },
    };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: 'x',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
        usage,
      }),
    );
  };
}

interface Run {
  readonly upstream: Upstream;
  readonly server: ServeProcess;
}

/** Runs a gateway with three providers and the pool `team/m`. */
async function withGateway<T>(pool: Record<string, unknown>, use: (run: Run) => Promise<T>): Promise<T> {
  const harness = await ServeHarness.start();
  const upstream = await startUpstream();
  try {
    const provider = Object.fromEntries(
      MEMBERS.map((name) => [
        name,
        { options: { baseURL: `${upstream.url}/${name}/v1`, apiKey: 'k' }, models: { m: {} } },
      ]),
    );
    const gateway = { pools: { 'team/m': { models: MEMBERS.map((name) => `${name}/m`), ...pool } } };
    writeFileSync(path.join(harness.folder, 'svc.jsonc'), JSON.stringify({ provider, gateway }));
    return await use({ upstream, server: await harness.serve(['--log-level', 'error']) });
  } finally {
    await harness.close();
    await upstream.close();
  }
}

async function ask({ server }: Run, model: string, messages: readonly Message[]): Promise<{ ok: boolean; ms: number }> {
  const began = performance.now();
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages }),
  });
  await response.arrayBuffer();
  return { ok: response.ok, ms: performance.now() - began };
}

const member = (requestPath: string) => requestPath.slice(1, 2);

/** The share of cached prompt tokens of 30 conversations with 8 turns each that go on at the same time. */
function cachedShare(affinity: boolean): Promise<number> {
  return withGateway({ affinity }, async (run) => {
    const providers = new Map(MEMBERS.map((name) => [name as string, new SimulatedProvider()]));
    run.upstream.respond((request, response) => providers.get(member(request.path))?.answer(request, response));
    const talk = async (conversation: number) => {
      const messages: Message[] = [{ role: 'system', content: 'You help with code. '.repeat(40) }];
      for (let turn = 0; turn < 8; turn += 1) {
        messages.push({ role: 'user', content: `Conversation ${conversation}, question ${turn}. `.repeat(20) });
        await ask(run, 'team/m', messages);
        messages.push({ role: 'assistant', content: 'Yes.' });
      }
    };
    await Promise.all(Array.from({ length: 30 }, (_, conversation) => talk(conversation)));
    const all = [...providers.values()];
    return all.reduce((sum, { cached }) => sum + cached, 0) / all.reduce((sum, { prompt }) => sum + prompt, 0);
  });
}

/** Milliseconds of 1,200 requests, 12 at a time, while member `a` is slow. */
function slowMember(pool: Record<string, unknown>): Promise<{ p50: number; p99: number }> {
  return withGateway({ affinity: false, ...pool }, async (run) => {
    const provider = new SimulatedProvider();
    run.upstream.respond(async (request, response) => {
      if (member(request.path) === 'a') await sleep(SLOW_MS);
      await provider.answer(request, response);
    });
    const times: number[] = [];
    const client = async (id: number) => {
      for (let request = 0; request < 100; request += 1) {
        times.push((await ask(run, 'team/m', [{ role: 'user', content: `${id} ${request}` }])).ms);
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, id) => client(id)));
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
    return { p50: at(0.5), p99: at(0.99) };
  });
}

/** The share of failed requests for `model` while member `a` fails half of the time. */
function flappingMember(model: string): Promise<number> {
  return withGateway({ affinity: false }, async (run) => {
    const provider = new SimulatedProvider();
    run.upstream.respond((request, response) => {
      const fails = member(request.path) === 'a' && Math.floor(performance.now() / FLAP_MS) % 2 === 0;
      if (!fails) return provider.answer(request, response);
      response.writeHead(503).end('{"error":{"message":"overloaded"}}');
    });
    const results: boolean[] = [];
    const client = async (id: number) => {
      for (let request = 0; request < 80; request += 1) {
        results.push((await ask(run, model, [{ role: 'user', content: `${id} ${request}` }])).ok);
      }
    };
    await Promise.all(Array.from({ length: 6 }, (_, id) => client(id)));
    return results.filter((ok) => !ok).length / results.length;
  });
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const ms = ({ p50, p99 }: { p50: number; p99: number }) => `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;

const [spread, together] = [await cachedShare(false), await cachedShare(true)];
const weighted = await slowMember({});
const strategies = {
  '`least-busy`': await slowMember({ strategy: 'least-busy' }),
  '`latency`': await slowMember({ strategy: 'latency' }),
  '`weighted`, `hedgeAfter` 100': await slowMember({ hedgeAfter: 100 }),
};
const [alone, pooled] = [await flappingMember('a/m'), await flappingMember('team/m')];

const rows = [
  [
    'cached prompt tokens, 30 conversations with 8 turns',
    `without affinity: ${percent(spread)}`,
    `with affinity: ${percent(together)}`,
    `${(together / spread).toFixed(2)} ×`,
  ],
  ...Object.entries(strategies).map(([name, found]) => [
    `one of three members needs ${SLOW_MS} ms more`,
    `\`weighted\`: ${ms(weighted)}`,
    `${name}: ${ms(found)}`,
    `p99 ${(found.p99 / weighted.p99).toFixed(2)} ×`,
  ]),
  [
    'failed requests while one member fails half of the time',
    `that member alone: ${percent(alone)}`,
    `pool: ${percent(pooled)}`,
    '',
  ],
];
const table = [
  '| situation | before | after | ratio |',
  '|---|---|---|---|',
  ...rows.map((row) => `| ${row.join(' | ')} |`),
].join('\n');
console.log(table);
const file = path.resolve(import.meta.dirname, '..', '..', 'docs', 'performance.md');
const text = readFileSync(file, 'utf8');
writeFileSync(
  file,
  text.replace(/<!-- pools -->[\s\S]*<!-- \/pools -->/, () => `<!-- pools -->\n${table}\n<!-- /pools -->`),
);
