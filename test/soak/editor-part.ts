import { readdirSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Converse } from '../../src/chat/session/session-deps.ts';
import type { CompletionRequest } from '../../src/completion/request/completion-sender.ts';
import { converse } from '../../src/provider/converse.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { SvcError, type SvcErrorInit } from '../../src/wire/errors/svc-error.ts';
import { ours } from '../bench/typist/contestants.ts';
import { Oracle } from '../bench/typist/oracle.ts';
import { oracleFill } from '../bench/typist/oracle-fill.ts';
import { type Task, tasksOf } from '../bench/typist/truth.ts';
import { Typist } from '../bench/typist/typist.ts';
import { sessionAt } from '../chat/test-session.ts';
import { VirtualClock } from '../completion/virtual-clock.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { atMost, count, random, type SoakPart, type SoakRow } from './part.ts';

const MB = 1024 * 1024;
/** States of the network, one after another. */
const WEATHER = ['fine', 'fine', 'offline', 'fine', 'out-of-credit', 'fine', 'slow'] as const;
type Weather = (typeof WEATHER)[number];
/** Chat scenarios of the simulated provider that end by themselves. */
const TALK = ['text', 'reasoning', 'length', 'reset-mid-stream', 'status-429', 'split-bytes'] as const;

const FAULTS: Readonly<Partial<Record<Weather, SvcErrorInit>>> = {
  offline: { status: 503, errorType: 'network_error', message: 'There is no network.', retryable: true },
  'out-of-credit': { status: 402, errorType: 'insufficient_credits', message: 'No credits are left.' },
};

interface Figures {
  keys: number;
  accepted: number;
  answers: number;
  /** Requests and keys while no request can succeed. */
  readonly vain: { requests: number; keys: number };
  open: number;
  flicker: number;
  wrongTails: number;
}

/** Typing and chatting in compressed time: completions and conversations with changing network faults. */
export const editorPart: SoakPart = {
  name: 'editor',
  run: async ({ seconds, seed, scale, progress }) => {
    const upstream = await startUpstream();
    const figures: Figures = {
      ...{ keys: 0, accepted: 0, answers: 0, open: 0, flicker: 0, wrongTails: 0 },
      vain: { requests: 0, keys: 0 },
    };
    const day = new Day(figures, seed);
    const transport = undiciTransport();
    const send: Converse = (model, conversation, signal) =>
      converse(model, conversation, { transport, signal, retry: { limit: 0 } });
    const collect = garbageCollector();
    const until = Date.now() + seconds * 1000;
    let warm: number | undefined;
    try {
      // All network states occur twice before memory is measured.
      for (let round = 0; round < WEATHER.length * 3 || Date.now() < until; round++) {
        await day.type(WEATHER[round % WEATHER.length] ?? 'fine');
        await talk(upstream, send, figures, round, scale === 'short' ? 1 : 3);
        if (round === WEATHER.length * 2) {
          collect();
          warm = process.memoryUsage().heapUsed;
        }
        if (round % 50 === 0) progress(`${figures.keys} keys, ${day.hours.toFixed(1)} hours of typing`);
      }
      await day.rest();
      collect();
      const grown = (process.memoryUsage().heapUsed - (warm ?? 0)) / MB;
      return rows(figures, day.hours, grown, await upstream.sockets());
    } finally {
      await transport.close();
      await upstream.close();
    }
  },
};

function rows(figures: Figures, hours: number, grown: number, sockets: number): SoakRow[] {
  const { vain } = figures;
  return [
    count('hours of typing', Number(hours.toFixed(2))),
    count('keys', figures.keys),
    count('characters accepted', figures.accepted),
    count('answers in chat', figures.answers),
    atMost('requests a key while offline or out of credit', vain.requests / Math.max(1, vain.keys), 0.1),
    atMost('requests that nobody waits for at the end', figures.open, 0),
    atMost('flicker', figures.flicker, 0),
    atMost('wrong tails', figures.wrongTails, 0),
    atMost('connections open at the end', sockets, 8),
    atMost('heap grown since it was warm', Math.max(0, grown), 8, ' MB'),
  ];
}

/** One engine for all of it, as in a window that stays open. */
class Day {
  readonly #figures: Figures;
  readonly #clock = new VirtualClock();
  readonly #tasks: readonly Task[];
  readonly #engine: ReturnType<typeof ours>;
  readonly #seed: number;
  #weather: Weather = 'fine';
  #next = 0;

  constructor(figures: Figures, seed: number) {
    const folder = new URL('../bench/typist/fixtures/', import.meta.url);
    const files = readdirSync(folder)
      .sort()
      .map((name) => readFileSync(new URL(name, folder), 'utf8'));
    this.#figures = figures;
    this.#seed = seed;
    this.#tasks = files.flatMap((file) => tasksOf(file, 2));
    this.#engine = ours(this.#fill(new Oracle(files, 4)), this.#clock);
  }

  get hours(): number {
    return this.#clock.now() / 3_600_000;
  }

  async type(weather: Weather): Promise<void> {
    this.#weather = weather;
    const task = this.#tasks[this.#next % this.#tasks.length];
    if (task === undefined) return;
    const typist = new Typist(task, 'all', this.#engine, this.#clock, this.#seed + this.#next);
    this.#next += 1;
    const { keys, accepted, flicker, wrongTails } = await typist.run(120);
    const figures = this.#figures;
    figures.keys += keys;
    figures.accepted += accepted;
    figures.flicker += flicker;
    figures.wrongTails += wrongTails;
    if (FAULTS[weather] !== undefined) figures.vain.keys += keys;
  }

  /** Long enough for all requests to end. */
  async rest(): Promise<void> {
    await this.#clock.pass(120_000);
  }

  #fill(oracle: Oracle): CompletionRequest {
    const traffic = { requests: 0, sent: 0, tokens: 0, tokensBeforeStop: 0, shared: 0, sharable: 0 };
    const answers = { fine: 150, slow: 3_000 } as const;
    const by = {
      fine: oracleFill(oracle, this.#clock, answers.fine, traffic),
      slow: oracleFill(oracle, this.#clock, answers.slow, traffic),
    };
    const figures = this.#figures;
    const weather = () => this.#weather;
    const clock = this.#clock;
    return async function* fill(fimRequest, signal) {
      const now = weather();
      const fault = FAULTS[now];
      figures.open += 1;
      try {
        if (fault === undefined) yield* (now === 'slow' ? by.slow : by.fine)(fimRequest, signal);
        else {
          figures.vain.requests += 1;
          await clock.sleep(20);
          yield { type: 'error', error: new SvcError(fault) };
        }
      } finally {
        figures.open -= 1;
      }
    };
  }
}

/** Conversations with all endings over real HTTP, some of them stopped. */
async function talk(upstream: Upstream, send: Converse, figures: Figures, round: number, times: number): Promise<void> {
  const dice = random(round);
  for (let time = 0; time < times; time++) {
    const scenario = TALK[Math.floor(dice() * TALK.length)] ?? 'text';
    const { session } = sessionAt(upstream, { id: `scenario:${scenario}` }, { converse: send });
    const stopping = dice() < 0.2;
    const sent = session.send({ text: `What is ${round}?` });
    if (stopping) session.stop();
    await sent;
    if (!session.running) figures.answers += 1;
    session.dispose();
    upstream.forget();
  }
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('There is no garbage collector to call.');
  return () => void collect();
}
