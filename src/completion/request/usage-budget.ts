import type { Usage } from '../../wire/event.ts';
import type { Clock } from '../document/clock.ts';
import type { CompletionModel } from '../document/completion-settings.ts';

export interface UsageCounts {
  readonly requests: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** True if some tokens were estimated at four characters each, because the upstream reported none. */
  readonly estimated: boolean;
  /** USD; `undefined` if a price is unknown. */
  readonly cost: number | undefined;
  readonly shown: number;
  readonly acceptedCharacters: number;
  /** USD per accepted character; `undefined` before the first one or without a price. */
  readonly costPerAcceptedCharacter: number | undefined;
  /** USD spent during the last hour. */
  readonly hour: number;
}

const HOUR_MS = 3_600_000;
/** Share of the budget above which requests wait longer. */
const SLOW_FROM = 0.7;
/** Used to estimate tokens if the upstream does not report usage. */
const CHARACTERS_PER_TOKEN = 4;
/** Number of recent answers that decide about speculation. */
const RECENT = 12;

/** Counts cost and benefit of completions, and compares the cost to the budget. */
export class UsageBudget {
  readonly #clock: Clock;
  #requests = 0;
  #failed = 0;
  #input = 0;
  #output = 0;
  #estimated = false;
  #cost = 0;
  #priced = true;
  #shown = 0;
  #accepted = 0;
  readonly #spent: { at: number; cost: number }[] = [];
  /** Generated and accepted characters of recent answers, oldest first. */
  readonly #recent: { readonly generated: number; accepted: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  recordRequest(): void {
    this.#requests++;
  }

  /** Without `usage`, tokens are estimated from the sent and generated characters. */
  recordAnswer(
    model: CompletionModel,
    usage: Usage | undefined,
    sentCharacters: number,
    generatedCharacters: number,
  ): number | undefined {
    if (usage === undefined) this.#estimated = true;
    const input = usage?.input ?? Math.ceil(sentCharacters / CHARACTERS_PER_TOKEN);
    const output = usage?.output ?? Math.ceil(generatedCharacters / CHARACTERS_PER_TOKEN);
    this.#input += input;
    this.#output += output;
    this.#recent.push({ generated: generatedCharacters, accepted: 0 });
    if (this.#recent.length > RECENT) this.#recent.shift();
    if (model.cost === undefined) {
      this.#priced = false;
      return undefined;
    }
    const cost = (input * model.cost.input + output * model.cost.output) / 1_000_000;
    this.#cost += cost;
    if (cost > 0) this.#spent.push({ at: this.#clock.now(), cost });
    return cost;
  }

  recordFailure(): void {
    this.#failed++;
  }

  recordShown(): void {
    this.#shown++;
  }

  recordAccepted(characters: number): void {
    this.#accepted += characters;
    const last = this.#recent.at(-1);
    if (last !== undefined) last.accepted += characters;
  }

  /** `slow`: wait longer and do not speculate; `stop`: the hourly budget is spent. `budget` in USD; 0: no limit. */
  level(budget: number): 'normal' | 'slow' | 'stop' {
    if (budget <= 0) return 'normal';
    const share = this.#hour() / budget;
    return share >= 1 ? 'stop' : share >= SLOW_FROM ? 'slow' : 'normal';
  }

  /** Milliseconds until the budget allows requests again. */
  waitMs(budget: number): number {
    let spent = this.#hour();
    for (const { at, cost } of this.#spent) {
      spent -= cost;
      if (spent < budget) return Math.max(0, at + HOUR_MS - this.#clock.now());
    }
    return 0;
  }

  /** Share of recently generated characters that were accepted; 0 if there are too few answers. */
  acceptance(): number {
    if (this.#recent.length < 3) return 0;
    let generated = 0;
    let accepted = 0;
    for (const answer of this.#recent) {
      generated += answer.generated;
      accepted += answer.accepted;
    }
    return generated === 0 ? 0 : accepted / generated;
  }

  counts(): UsageCounts {
    const cost = this.#priced ? this.#cost : undefined;
    return {
      requests: this.#requests,
      failed: this.#failed,
      inputTokens: this.#input,
      outputTokens: this.#output,
      estimated: this.#estimated,
      cost,
      shown: this.#shown,
      acceptedCharacters: this.#accepted,
      costPerAcceptedCharacter: cost === undefined || this.#accepted === 0 ? undefined : cost / this.#accepted,
      hour: this.#hour(),
    };
  }

  #hour(): number {
    const since = this.#clock.now() - HOUR_MS;
    while (this.#spent.length > 0 && (this.#spent[0]?.at ?? 0) < since) this.#spent.shift();
    return this.#spent.reduce((sum, { cost }) => sum + cost, 0);
  }
}
