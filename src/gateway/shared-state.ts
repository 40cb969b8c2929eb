import type { StoredGatewayKey } from './access/key-store.ts';
import type { RowStore } from './accounting/ledger.ts';
import type { AlertClaims } from './limits/alerts.ts';
import type { Budget } from './limits/budget.ts';
import type { SharedBudgets } from './limits/budget-share.ts';
import type { Rate } from './limits/rate.ts';
import type { SharedRates } from './limits/rate-share.ts';
import type { StateAdmin } from './state-admin.ts';

/** A state on a server that several gateways share. It works in the background: no request waits for it. */
export interface SharedState {
  readonly admin: StateAdmin;
  /** Keeps rows on the local disk until the server has them. */
  readonly rows: RowStore;
  readonly alerts: AlertClaims;
  /** The server can't be written; it does not answer; or it has not for so long that keys must not be used. */
  readonly status: 'ok' | 'read-only' | 'away' | 'stale';
  readonly stale: boolean;
  /** Shares of budgets, which are subtracted in the shared state before they are spent. */
  readonly budgets: SharedBudgets;
  /** Shares of rates. Absent: each gateway counts alone. */
  readonly rates?: SharedRates | undefined;
  /** Number of gateways that use the state; of the last answer. */
  readonly replicas: number;
  /** Passes the keys to the gateway, now and after each change. */
  attach(gateway: SharingGateway): void;
  /** Resolves when the gateway has its first shares of budgets, or the server does not answer. */
  ready(): Promise<void>;
  follow(): void;
  /** Rows on the local disk that the server does not have yet. */
  readonly waiting: number;
  /** Tells the other gateways about this one, with each look for changes. */
  describe(facts: () => string): void;
  /** Reports of gateways about themselves, of the last minutes. */
  listReplicas(): Promise<readonly SeenReplica[]>;
  dispose(): Promise<void>;
}

export interface SeenReplica {
  readonly id: string;
  /** As `describe` gave them. */
  readonly facts: string;
  /** Unix milliseconds. */
  readonly seenAt: number;
  readonly self: boolean;
}

/** Shares of rates from a server of their own. It works in the background: no request waits for it. */
export interface SharedRateServer {
  readonly rates: SharedRates;
  /** @param rates all rates of the gateway, by id. */
  attach(rates: () => ReadonlyMap<string, Rate>): void;
  /** Resolves when the gateway has its first shares, or the server does not answer. */
  ready(): Promise<void>;
  dispose(): Promise<void>;
}

/** Shares of budgets from another process of this machine. The rows are in a state that both use. */
export interface SharedBudgetServer {
  readonly budgets: SharedBudgets;
  attachBudgets(gateway: BudgetGateway): void;
  /** Resolves when the gateway has its first shares. */
  ready(): Promise<void>;
}

export interface BudgetGateway extends Pick<SharingGateway, 'budgets' | 'spent'> {
  /** Nano-USD that this process spent in a window, in rows that are not in the state yet. */
  unwritten(budget: Budget, start: number): number;
}

/** The parts of a gateway that its shared state uses. */
export interface SharingGateway {
  /** Replaces the keys that requests may use. */
  keys(keys: readonly StoredGatewayKey[]): void;
  /** Creates the limits of keys, before requests may use them. */
  limits(keys: readonly StoredGatewayKey[]): void;
  /** All budgets, by id. */
  budgets(): ReadonlyMap<string, Budget>;
  /** All rates, by id. */
  rates(): ReadonlyMap<string, Rate>;
  /** It is known how much was spent of a budget. */
  spent(budget: Budget): void;
}
