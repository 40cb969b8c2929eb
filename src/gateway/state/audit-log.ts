import type { DatabaseSync } from 'node:sqlite';
import { objectOrEmpty } from '../../base/json.ts';

/** Who makes a change, and from where. */
export interface Actor {
  /** Name of a key, `local` for a one-time link, or `cli:USER`. */
  readonly who: string;
  /** Address of the client, or `terminal`. */
  readonly source: string;
}

export interface Change {
  /** Such as `key.create`. */
  readonly action: string;
  /** What was changed. */
  readonly target: string;
  /** Never contains a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditRow extends Actor, Change {
  readonly id: number;
  /** Unix milliseconds. */
  readonly at: number;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AuditFilter {
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** Only rows before this one. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Adds a change to the audit log. Must run in the transaction of the change. */
export function writeAudit(database: DatabaseSync, { who, source }: Actor, change: Change, now = Date.now()): void {
  database
    .prepare('INSERT INTO audit (at, who, action, target, source, details) VALUES (?, ?, ?, ?, ?, ?)')
    .run(now, who, change.action, change.target, source, JSON.stringify(change.details ?? {}));
}

/** The newest rows first. */
export function readAudit(database: DatabaseSync, { who, action, target, before, limit }: AuditFilter): AuditRow[] {
  const rows = database
    .prepare(
      `SELECT * FROM audit WHERE id < ?1 AND (?2 IS NULL OR who = ?2) AND (?3 IS NULL OR action = ?3)
        AND (?4 IS NULL OR target = ?4) ORDER BY id DESC LIMIT ?5`,
    )
    .all(before ?? Number.MAX_SAFE_INTEGER, who ?? null, action ?? null, target ?? null, limit);
  return rows.map((row) => ({
    id: Number(row.id),
    at: Number(row.at),
    who: String(row.who),
    action: String(row.action),
    target: String(row.target),
    source: String(row.source),
    details: objectOrEmpty(JSON.parse(String(row.details))),
  }));
}
