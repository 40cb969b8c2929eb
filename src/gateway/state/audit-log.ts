import { objectOrEmpty } from '../../base/json.ts';
import { type Row, run, type Steps } from './steps.ts';

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
  /** The changed object. */
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

const COLUMNS = 'at, who, action, target, source, details';

/** Adds a change to the audit log. Must run in the transaction of the change. */
export function* writeAudit({ who, source }: Actor, change: Change, now = Date.now()): Steps<void> {
  const values = [now, who, change.action, change.target, source, JSON.stringify(change.details ?? {})];
  yield* run(`INSERT INTO audit (${COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)`, values);
}

/** The newest rows come first. */
export function* readAudit({ who, action, target, before, limit }: AuditFilter): Steps<readonly AuditRow[]> {
  const values: (string | number)[] = [before ?? Number.MAX_SAFE_INTEGER];
  const equal = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`${name} = ?${values.push(value)}`];
  const conditions = ['id < ?1', ...equal('who', who), ...equal('action', action), ...equal('target', target)];
  const sql = `SELECT id, ${COLUMNS} FROM audit WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT ${limit}`;
  return (yield* run(sql, values)).map(readAuditRow);
}

function readAuditRow(row: Row): AuditRow {
  return {
    id: Number(row.id),
    at: Number(row.at),
    who: String(row.who),
    action: String(row.action),
    target: String(row.target),
    source: String(row.source),
    details: objectOrEmpty(JSON.parse(String(row.details))),
  };
}
