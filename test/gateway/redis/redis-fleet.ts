import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RateLimit, RedisReplica } from '../shared-limits.ts';
import { until, untilEqual } from '../until.ts';
import type { RedisServer } from './redis-server.ts';

/** Which of three replicas get requests at a time in milliseconds. */
export type Load = (at: number) => readonly number[];

/** Times of requests in milliseconds, by load. */
export type Taken = Readonly<Record<string, readonly number[]>>;

export const LIMIT = 600;

/** One rate of 600 requests for each load. The load changes from one gateway to the next in a sixtieth of a minute. */
export function loadsOf(minuteMs: number): Readonly<Record<string, Load>> {
  return {
    even: () => [0, 1, 2],
    lopsided: () => [0],
    alternating: (at) => [Math.floor(at / (minuteMs / 60)) % 3],
  };
}

/** Three gateways on one Redis. */
export class RedisFleet {
  readonly lines: string[];
  readonly replicas: readonly RedisReplica[];

  /** @param minuteMs the window of each rate, 60,000 in the product. Resolves when each gateway knows the others. */
  static async start(url: string, limits: Readonly<Record<string, RateLimit>>, minuteMs?: number): Promise<RedisFleet> {
    const lines: string[] = [];
    const write = (fields: unknown, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`);
    const log = { debug: () => undefined, info: write, warn: write, error: write };
    const started = Array.from({ length: 3 }, () => RedisReplica.start(url, limits, log, minuteMs));
    const fleet = new RedisFleet(lines, await Promise.all(started));
    await untilEqual('each gateway knows the others', () => fleet.replicas.map(({ known }) => known), [3, 3, 3]);
    return fleet;
  }

  private constructor(lines: string[], replicas: readonly RedisReplica[]) {
    this.lines = lines;
    this.replicas = replicas;
  }

  /** Sends as many requests as are allowed, until `ended`. */
  async run(ended: (at: number, taken: Taken) => boolean, loads: Readonly<Record<string, Load>>): Promise<Taken> {
    const taken: Record<string, number[]> = Object.fromEntries(Object.keys(loads).map((name) => [name, []]));
    const begin = performance.now();
    const now = () => performance.now() - begin;
    while (!ended(now(), taken)) {
      for (const [name, of] of Object.entries(loads)) {
        for (const index of of(now())) {
          for (let sent = 0; sent < 5; sent += 1) {
            const at = now();
            if (!this.replicas[index]?.rate(name).take()) break;
            taken[name]?.push(at);
          }
        }
      }
      await sleep(10);
    }
    return taken;
  }

  /** Number of lines of the log with a text. */
  count(text: string): number {
    return this.lines.filter((line) => line.includes(text)).length;
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((each) => each.dispose()));
  }
}

/** The most requests of any minute, wherever it begins. */
export function mostInAMinute(times: readonly number[], minuteMs: number): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + minuteMs).length));
}

/** Runs until a part of the limit was used by each load, or until a time. @param part 1 is the limit of a minute. */
export function runUntilUsed(fleet: RedisFleet, minuteMs: number, part: number, mostMs: number): Promise<Taken> {
  const enough = (taken: Taken) => Object.values(taken).every((times) => times.length >= part * LIMIT);
  return fleet.run((at, taken) => at > mostMs || enough(taken), loadsOf(minuteMs));
}

/** Redis is killed and started again without its data when half of each rate is used. */
export async function runRestarted(fleet: RedisFleet, server: RedisServer, minuteMs: number): Promise<Taken> {
  const loads = loadsOf(minuteMs);
  let failed = false;
  const enough = (taken: Taken) => Object.values(taken).every((times) => times.length >= LIMIT * 1.3);
  // The time limit of the test ends it if a rate never returns.
  const loading = fleet.run((at, taken) => failed || at > minuteMs * 3 + 30_000 || enough(taken), loads);
  loading.catch(() => undefined);
  try {
    await until('half of each rate is used', () => {
      const used = Object.keys(loads).map((name) =>
        fleet.replicas.reduce((sum, each) => sum + each.rate(name).used, 0),
      );
      return used.every((each) => each >= LIMIT / 2) || `used: ${used}`;
    });
    await server.kill();
    await untilEqual('all gateways know it', () => fleet.count('rates-away'), 3);
    await server.start();
    return await loading;
  } catch (thrown) {
    failed = true;
    throw thrown;
  }
}

export function assertNoMinuteAboveLimit(taken: Taken, minuteMs: number): void {
  for (const [name, times] of Object.entries(taken)) {
    const most = mostInAMinute(times, minuteMs);
    assert.ok(most <= LIMIT, `${name}: ${most} requests in a minute, limit ${LIMIT}`);
  }
}
