import type { Dispatcher } from 'undici';
import type { Model } from '../catalog/model.ts';
import type { Registry } from '../catalog/registry/registry.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { Transport } from '../provider/transport/transport.ts';
import type { KeyCheck } from './access/authentication.ts';
import type { Ledger } from './accounting/ledger.ts';
import type { Metrics } from './accounting/metrics.ts';
import type { UpstreamHealth } from './accounting/upstream-health.ts';
import type { LiveRequests } from './admin/live-requests.ts';
import type { Presence } from './admin/presence.ts';
import type { SignInLimit } from './admin/sign-in-limit.ts';
import type { RunningRequests } from './http/running-requests.ts';
import type { Limits } from './limits/limits.ts';
import type { Pools } from './pools/pools.ts';
import type { ReportQueue } from './reports/report-queue.ts';
import type { SharedState } from './shared-state.ts';
import type { StateAdmin } from './state-admin.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Writes log lines. `fields` never contain a credential. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
}

/** The models that endpoints list. They become known after the start. */
export interface ModelListing {
  /** The lists arrived, failed or are overdue. True while they are requested again. */
  readonly wasListed: boolean;
  /** Resolves when no list is being requested, or after a timeout. */
  whenListed(): Promise<void>;
  /** As `whenListed`, for an unknown model. Requests the lists again if they are old. */
  refreshListings(): Promise<void>;
  /** The model with the window that its server has now. A request follows. */
  served(model: Model, signal: AbortSignal): Promise<Model>;
}

/** The dependencies of the gateway. Settings and registry are functions because they reload. */
export interface GatewayDeps {
  readonly settings: () => Settings;
  readonly registry: () => Registry;
  readonly listing: ModelListing;
  readonly pools: Pools;
  readonly keys: KeyCheck;
  readonly limits: Limits;
  readonly running: RunningRequests;
  readonly ledger: Ledger;
  /** Absent: the state is local. */
  readonly shared?: Pick<SharedState, 'status' | 'waiting' | 'describe' | 'listReplicas'> | undefined;
  /** What all workers of this gateway say about themselves, this one included. Absent: there is one process. */
  readonly workers?: { replicas(): Promise<readonly string[]>; health(): Promise<readonly string[]> } | undefined;
  readonly metrics: Metrics;
  readonly health: UpstreamHealth;
  readonly transport: Transport;
  /** The connections of `transport`, to forward bytes. */
  readonly dispatcher: Dispatcher;
  readonly log: Log;
  /** Pages that show requests as they end. */
  readonly live: LiveRequests;
  /** What the admin API reads and writes. */
  readonly admin: StateAdmin;
  readonly signIns: SignInLimit;
  readonly reports: ReportQueue;
  readonly presence: Presence;
  /** Folder of the admin page. Absent: there is no page. */
  readonly adminPage?: string | undefined;
  /** By which the process proves itself to those that started it. Absent: it can't. */
  readonly proofSecret?: string | undefined;
  /** Milliseconds of silence after which a stream gets a heartbeat, default 15 seconds. */
  readonly heartbeatMs?: number | undefined;
  /** The version of Svc. */
  readonly version: string;
  /** Absent: nothing is recorded. */
  readonly telemetry?: Telemetry | undefined;
}
