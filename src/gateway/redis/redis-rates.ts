import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { EarliestTimer } from '../../base/concurrency.ts';
import { defined } from '../../base/json.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import type { Log } from '../accounting/log.ts';
import type { Rate } from '../limits/rate.ts';
import { type RateGrants, RateLeases, type RateQuestion, type RateStore } from '../limits/rate-leases.ts';
import { MINUTE_MS } from '../limits/sliding-minute.ts';
import { withoutSecrets } from '../servers/server-address.ts';
import { ServerHealth } from '../servers/server-health.ts';
import { Unavailable } from '../servers/unavailable.ts';
import type { SharedRateServer } from '../shared-state.ts';
import { RATE_SCRIPT, RELEASE_SCRIPT } from './rate-script.ts';
import { describeRedis, RedisConnection } from './redis-connection.ts';

export interface RedisRatesInput {
  /** Address of the server, with its password. */
  readonly url: () => string;
  readonly log: Log;
  /** Number of gateways while Redis is away, if it is known from elsewhere. */
  readonly replicas?: () => number | undefined;
  /** Milliseconds of the window of each rate, default 60,000. All gateways on one server have the same. */
  readonly minuteMs?: number;
  /** Milliseconds after which a call has failed, default 500. */
  readonly callMs?: number;
}

/** Milliseconds between two calls of a gateway without requests. */
const POLL_MS = 500;
/** Milliseconds in which use is collected. */
const REPORT_MS = 150;
/** Milliseconds in which questions are collected. */
const ASK_MS = 20;
/** Milliseconds after a failure in which all gateways notice that the server is back, and report their use. */
const RETURN_MS = 3_000;
/** Rates in one call. It blocks the server. */
const BATCH = 200;
const PREFIX = '{svc}:rates';

/** Shares of rates from Redis or Valkey. It runs in the background: no request waits for it. */
export class RedisRates implements SharedRateServer {
  readonly #input: RedisRatesInput;
  readonly #connection: RedisConnection;
  readonly #health: ServerHealth;
  readonly #store: RedisRateStore;
  readonly #leases: RateLeases;
  #rates: () => ReadonlyMap<string, Rate> = () => new Map();
  /** When the server was lost, and when it may be used again after that; of the monotonic clock. */
  #lostAt: number | undefined;
  #steadyAt = 0;
  readonly #renewal = new EarliestTimer(() => {
    if (this.#asking) this.#askSoon(REPORT_MS);
    else void this.#ask();
  });
  #asking = false;
  #disposed = false;

  /** Connects. A server that is away is no error. @throws SvcError configuration_error if it refuses the user. */
  static async open(input: RedisRatesInput): Promise<RedisRates> {
    const opened = new RedisRates(input);
    try {
      await opened.#store.ask([]);
    } catch (thrown) {
      if (thrown instanceof Unavailable && thrown.refused) {
        opened.#connection.close();
        throw refused(input.url(), thrown.reason);
      }
      opened.#failed(thrown);
    }
    return opened;
  }

  private constructor(input: RedisRatesInput) {
    this.#input = input;
    this.#connection = new RedisConnection(input.url, input.callMs);
    this.#health = new ServerHealth(input.log, describeRedis(input.url()), 'rates-away');
    const { minuteMs = MINUTE_MS } = input;
    this.#store = new RedisRateStore(this.#connection, minuteMs);
    this.#leases = new RateLeases(this.#store, {
      lostAt: () => this.#lostAt,
      wake: (delay) => this.#askSoon(delay === 0 ? ASK_MS : delay),
      reportMs: REPORT_MS,
      minuteMs,
      ...defined({ replicas: input.replicas }),
    });
  }

  get rates(): RateLeases {
    return this.#leases;
  }

  attach(rates: () => ReadonlyMap<string, Rate>): void {
    this.#rates = rates;
    this.#askSoon(POLL_MS);
  }

  /** Resolves when the gateway has its first shares, or the server does not answer. */
  ready(): Promise<void> {
    return this.#health.away ? Promise.resolve() : this.#ask();
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#renewal.stop();
    if (!this.#health.away) await this.#store.release().catch(() => undefined);
    this.#connection.close();
  }

  #askSoon(delay: number): void {
    // While the server is away, only the next poll looks whether it is back.
    if (!this.#disposed && !(this.#health.away && delay < POLL_MS)) this.#renewal.start(delay);
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    try {
      await this.#store.look();
      this.#leases.replicas = this.#store.replicas;
      if (this.#store.takeForgotten()) this.#leases.reportAll(this.#rates());
      this.#leases.wanted = this.#store.wanted;
      await this.#leases.ask(this.#rates(), this.#store.wanted.size > 0);
      if (this.#health.away) this.#steadyAt = performance.now() + RETURN_MS;
      this.#health.answered();
      if (!this.#store.warm && performance.now() >= this.#steadyAt) this.#lostAt = undefined;
    } catch (thrown) {
      this.#failed(thrown);
    } finally {
      this.#asking = false;
    }
    this.#askSoon(POLL_MS);
  }

  #failed(thrown: unknown): void {
    if (this.#disposed) return;
    const reason = thrown instanceof Unavailable ? thrown.reason : withoutSecrets(thrown, this.#input.url());
    this.#health.failed(reason);
    this.#lostAt ??= this.#health.awayAt;
  }
}

/** Leases of rates in Redis, by a script. */
class RedisRateStore implements RateStore {
  readonly #connection: RedisConnection;
  readonly #minuteMs: number;
  /** A restarted process is another one. */
  readonly #replica = randomUUID();
  #epoch = '';
  #warm = false;
  /** Rates of which another gateway needs more. */
  wanted: ReadonlySet<string> = new Set();
  #calledAt = Number.NEGATIVE_INFINITY;
  #forgotten = false;
  /** Number of gateways; of the last answer. */
  replicas = 1;

  constructor(connection: RedisConnection, minuteMs: number) {
    this.#connection = connection;
    this.#minuteMs = minuteMs;
  }

  /** The server has lost its data less than a minute ago. It counts, but it grants nothing. */
  get warm(): boolean {
    return this.#warm;
  }

  /** Whether all of the last minute must be reported, because the server has lost it. */
  takeForgotten(): boolean {
    const forgotten = this.#forgotten;
    this.#forgotten = false;
    return forgotten;
  }

  /** Says that this gateway lives, and reads which rates others need. */
  async look(): Promise<void> {
    if (performance.now() - this.#calledAt > POLL_MS / 2) await this.ask([]);
  }

  async ask(questions: readonly RateQuestion[]): Promise<RateGrants> {
    const results: RateGrants[] = [];
    for (let from = 0; from === 0 || from < questions.length; from += BATCH) {
      results.push(await this.#askBatch(questions.slice(from, from + BATCH)));
    }
    return {
      answers: results.flatMap(({ answers }) => answers),
      replicas: this.replicas,
    };
  }

  /** The shares of this gateway are free at once. */
  async release(): Promise<void> {
    await this.#connection.run(RELEASE_SCRIPT, PREFIX, [this.#replica]);
  }

  async #askBatch(questions: readonly RateQuestion[]): Promise<RateGrants> {
    const rows = questions.map(({ id, limit, used, held, left, needed }) => [id, limit, used, held, left, needed]);
    const known = this.#epoch;
    const values = [this.#replica, known, randomUUID(), JSON.stringify(rows), String(this.#minuteMs)];
    const reply = REPLY.parse(await this.#connection.run(RATE_SCRIPT, PREFIX, values));
    const [epoch, warm, replicas, wanted, answers] = reply;
    this.#calledAt = performance.now();
    this.#epoch = epoch;
    this.#warm = warm === 1;
    this.replicas = Math.max(1, replicas);
    if (known !== '' && known !== epoch) {
      this.#forgotten = true;
      throw new Unavailable('it was started again without its data');
    }
    const own = `${this.#replica} `;
    this.wanted = new Set(wanted.flatMap((each) => (each.startsWith(own) ? [] : each.slice(each.indexOf(' ') + 1))));
    return {
      answers: this.#warm
        ? []
        : questions.flatMap(({ id }, index) => {
            const [extra, free = 0, waitMs = 0, others = 0] = answers[index] ?? [];
            return extra === undefined ? [] : { id, extra, free, others, waitMs };
          }),
      replicas: this.replicas,
    };
  }
}

const REPLY = z.tuple([z.string(), z.number(), z.number(), z.array(z.string()), z.array(z.array(z.number()))]);

/** The error about a server that refuses the user. It contains no credential. */
function refused(url: string, reason: string): SvcError {
  return new SvcError({
    errorType: 'configuration_error',
    message: `The server of the rates at ${describeRedis(url)} can’t be used: ${reason}.`,
    action: 'Check the user and the password of gateway.rates in svc.jsonc.',
    cause: reason,
  });
}
