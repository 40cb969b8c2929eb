import type { Dispatcher } from 'undici';
import type { Registry } from '../catalog/registry/registry.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { Transport } from '../provider/transport/transport.ts';
import type { KeyCheck } from './access/authentication.ts';
import type { Ledger } from './accounting/ledger.ts';
import type { Metrics } from './accounting/metrics.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One line of the log; `fields` never hold a credential. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
}

/** Models that endpoints list themselves become known after the start. */
export interface ModelListing {
  /** Nothing is being asked for. */
  readonly listed: boolean;
  /** Resolves when `listed`, or when it takes too long. */
  whenListed(): Promise<void>;
  /** As `whenListed`, for a model that nobody knows: asks anew when the last time is long ago. */
  lookAgain(): Promise<void>;
}

/** What the gateway is made of. Settings and registry are asked for at each request: they reload. */
export interface GatewayDeps {
  readonly settings: () => Settings;
  readonly registry: () => Registry;
  readonly listing: ModelListing;
  readonly keys: KeyCheck;
  readonly ledger: Ledger;
  readonly metrics: Metrics;
  readonly transport: Transport;
  /** The connections of `transport`, for bytes that pass through. */
  readonly dispatcher: Dispatcher;
  readonly log: Log;
}
