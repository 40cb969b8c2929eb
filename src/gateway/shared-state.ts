import type { StoredGatewayKey } from './access/key-store.ts';
import type { RowStore } from './accounting/ledger.ts';
import type { ClaimAlert } from './limits/alerts.ts';
import type { StateAdmin } from './state-admin.ts';

/** A state on a server that several gateways share. It works in the background: no request waits for it. */
export interface SharedState {
  readonly admin: StateAdmin;
  /** Keeps rows on the local disk until the server has them. */
  readonly rows: RowStore;
  readonly claimAlert: ClaimAlert;
  /** The server does not answer; or it has not for so long that keys must not be used. */
  readonly status: 'ok' | 'away' | 'stale';
  readonly stale: boolean;
  /** Passes the keys to `changed`, now and after each change. */
  onKeys(changed: (keys: readonly StoredGatewayKey[]) => void): void;
  follow(): void;
  dispose(): Promise<void>;
}
