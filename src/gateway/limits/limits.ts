import type { GatewaySettings, LimitSettings } from '../../config/settings/settings.ts';
import { OPERATOR } from '../access/authentication.ts';
import type { Budget, Spend } from './budget.ts';
import type { BudgetBook } from './budget-book.ts';
import {
  type BudgetRule,
  budgetId,
  type RateRule,
  rateId,
  rulesFor,
  type Subject,
  stricterBudget,
  stricterRate,
} from './limit-rules.ts';
import { Rate } from './rate.ts';
import type { SharedRates } from './rate-share.ts';

const NONE: LimitSettings = { budgets: [], rates: [] };

/** A key with its own limits. */
export interface LimitedKey extends Subject {
  readonly limits: LimitSettings;
}

/** The limits of one key for one organization. */
export interface CallerLimits {
  readonly budgets: readonly Budget[];
  /** Rates for all models. */
  readonly general: readonly Rate[];
  /** Rates for some models. */
  readonly ofModels: readonly Rate[];
}

/** The limits of all callers, from the keys and the configuration. */
export class Limits {
  readonly #book: BudgetBook;
  readonly #waiting: () => readonly Spend[];
  readonly #shared: SharedRates | undefined;
  #settings: GatewaySettings;
  #keys: readonly LimitedKey[] = [];
  #rates = new Map<string, Rate>();
  #users: ReadonlyMap<string, string> = new Map();
  /** By the name of the key, then by organization. */
  #callers = new Map<string, ReadonlyMap<string | undefined, CallerLimits>>();

  /**
   * @param waiting costs of this process that are not stored yet.
   * @param shared if several processes use the rates.
   */
  constructor(
    book: BudgetBook,
    settings: GatewaySettings,
    waiting: () => readonly Spend[] = () => [],
    shared?: SharedRates,
  ) {
    this.#shared = shared;
    this.#book = book;
    this.#settings = settings;
    this.#waiting = waiting;
  }

  /** All rates, by id. */
  get rates(): ReadonlyMap<string, Rate> {
    return this.#rates;
  }

  /** Undefined if nothing limits these requests. */
  of(key: string, organization: string | undefined): CallerLimits | undefined {
    return this.#callers.get(key)?.get(organization);
  }

  /** All budgets, with their spending. */
  get budgets(): Iterable<Budget> {
    return this.#book.all.values();
  }

  /** @param id as `budgetId` makes it. */
  budget(id: string): Budget | undefined {
    return this.#book.get(id);
  }

  /** The user of a stored key. */
  userOf(key: string): string | undefined {
    return this.#users.get(key);
  }

  configure(settings: GatewaySettings): void {
    this.#settings = settings;
    this.#rebuild();
  }

  /** @param keys the stored keys. The keys of the operator have the limits of the organization that they name. */
  setKeys(keys: readonly LimitedKey[]): void {
    this.#keys = keys;
    this.#rebuild();
  }

  /** Reads all limits again. The use of limits that still exist stays. */
  #rebuild(): void {
    const operator = [undefined, ...this.#settings.organizations.keys()].map((organization) => ({
      key: OPERATOR,
      organization,
      limits: NONE,
    }));
    const rules = [...this.#keys, ...operator].map((subject) => ({
      subject,
      ...rulesFor(subject, this.#settings, subject.limits),
    }));
    const budgets = new Map<string, BudgetRule>();
    const rateRules = new Map<string, RateRule>();
    // Several rules may count the same requests. All of them hold.
    for (const each of rules) {
      for (const rule of each.budgets) budgets.set(budgetId(rule), stricterBudget(budgets.get(budgetId(rule)), rule));
      for (const rule of each.rates) rateRules.set(rateId(rule), stricterRate(rateRules.get(rateId(rule)), rule));
    }
    const rates = new Map<string, Rate>();
    for (const [id, rule] of rateRules) {
      const rate = this.#rates.get(id) ?? new Rate(rule, this.#shared?.shares(id));
      rate.rule = rule;
      rates.set(id, rate);
    }
    this.#rates = rates;
    const users = this.#keys.flatMap(({ key, user }) => (user === undefined ? [] : [[key, user] as const]));
    this.#users = new Map(users);
    this.#book.update(budgets, this.#users, this.#waiting());
    const callers = new Map<string, Map<string | undefined, CallerLimits>>();
    for (const { subject, ...found } of rules) {
      if (found.budgets.length === 0 && found.rates.length === 0) continue;
      const limited = unique(found.rates.map((rule) => rates.get(rateId(rule))));
      const limits = {
        budgets: unique(found.budgets.map((rule) => this.#book.get(budgetId(rule)))),
        general: limited.filter(({ countsAllModels }) => countsAllModels),
        ofModels: limited.filter(({ countsAllModels }) => !countsAllModels),
      };
      const byOrganization = callers.get(subject.key) ?? new Map<string | undefined, CallerLimits>();
      callers.set(subject.key, byOrganization.set(subject.organization, limits));
    }
    this.#callers = callers;
  }
}

function unique<T>(values: readonly (T | undefined)[]): T[] {
  return [...new Set(values.filter((value) => value !== undefined))];
}
