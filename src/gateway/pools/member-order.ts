import { crc32 } from 'node:zlib';
import type { MemberHealth } from './member-health.ts';
import type { Member, Pool } from './pools.ts';

/** Facts on which the order of a request's members depends. */
export interface OrderInput<M> {
  readonly pool: Pool<M>;
  /** The members that the caller may use. */
  readonly members: readonly Member<M>[];
  readonly health: MemberHealth;
  /** The name of a member in `health`. */
  readonly name: (model: M) => string;
  /** Identifies the caller and the conversation; undefined: the requests need not stay together. */
  readonly conversation: string | undefined;
}

interface Ranked<M> {
  readonly member: Member<M>;
  readonly name: string;
  /** By weight: random, or the same for all requests of a conversation. Lower is better. */
  readonly score: number;
}

/** A conversation leaves its member if the member has so many times the requests or the wait of the best one. */
const OVERLOAD = 2;
/** Requests more than the least busy member's that are never an overload. */
const FEW = 4;
/** Milliseconds more than the fastest member's that are never an overload. */
const BARELY_SLOWER_MS = 250;

/**
 * The members in the order in which they are tried: available ones by the pool's strategy, then those that cool down,
 * first the one that is available soonest.
 */
export function orderMembers<M>(input: OrderInput<M>): readonly M[] {
  const { health } = input;
  // The beginning of a prompt is long, so it is hashed once and not for each member.
  const conversation = input.conversation === undefined ? undefined : crc32(input.conversation);
  const [available, cooling]: [Ranked<M>[], Ranked<M>[]] = [[], []];
  for (const member of input.members) {
    const name = input.name(member.model);
    const score = -Math.log(position(conversation, name)) / member.weight;
    (health.isAvailable(name) ? available : cooling).push({ member, name, score });
  }
  const ordered = byStrategy(input, available);
  cooling.sort((a, b) => health.coolingMs(a.name) - health.coolingMs(b.name) || a.score - b.score);
  return [...ordered, ...cooling].map(({ member }) => member.model);
}

function byStrategy<M>({ pool, health, conversation }: OrderInput<M>, ranked: Ranked<M>[]): Ranked<M>[] {
  const byScore = ranked.toSorted((a, b) => a.score - b.score);
  const { strategy } = pool.settings;
  if (strategy === 'weighted') return byScore;
  const load = strategy === 'least-busy' ? busyness<M>(health) : waitingTime(health, ranked);
  // `toSorted` is stable: members with the same load keep their order by weight.
  const byLoad = byScore.toSorted((a, b) => load(a) - load(b));
  const [best] = byLoad;
  const [own] = byScore;
  if (conversation === undefined || best === undefined || own === undefined) return byLoad;
  const slack = strategy === 'least-busy' ? FEW : BARELY_SLOWER_MS;
  const overloaded = load(own) > load(best) * OVERLOAD + slack;
  return overloaded ? byLoad : [own, ...byLoad.filter((each) => each !== own)];
}

function busyness<M>(health: MemberHealth): (ranked: Ranked<M>) => number {
  return ({ name, member }) => health.inFlight(name) / member.weight;
}

/** A member that is not measured yet counts as fast as the fastest one, so that it gets requests, but not all of them. */
function waitingTime<M>(health: MemberHealth, ranked: readonly Ranked<M>[]): (ranked: Ranked<M>) => number {
  const measured = ranked.map(({ name }) => health.firstByteMs(name)).filter((ms) => ms > 0);
  const fastest = measured.length === 0 ? 1 : Math.min(...measured);
  return ({ name }) => (health.firstByteMs(name) || fastest) * (health.inFlight(name) + 1);
}

/**
 * A number above 0 and below 1: random, or by rendezvous hashing. Then a conversation keeps its member when others are
 * added or removed.
 */
function position(conversation: number | undefined, name: string): number {
  return conversation === undefined ? 1 - Math.random() * 0.999_999 : (mix(conversation ^ crc32(name)) + 0.5) / 2 ** 32;
}

/** Each bit of the result depends on all bits of `value` (the last step of MurmurHash3, 32 bits). */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
