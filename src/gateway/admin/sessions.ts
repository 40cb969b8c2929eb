import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** How long the token of a one-time link can be used. */
const LINK_MS = 10 * 60_000;

/** A signed-in browser. */
export interface StoredSession {
  /** SHA-256 of the key that started it; empty for a one-time link. The session is valid as long as the key is. */
  readonly keyHash: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

export interface CreatedLink {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** Sessions of browsers and tokens of one-time links, in the state. Only hashes are stored. */
export interface SessionStore {
  /** Starts a session. @returns its token, for the cookie. */
  startSession(keyHash: string, expiresAt: number): Promise<string>;
  findSession(token: string): Promise<StoredSession | undefined>;
  endSession(token: string): Promise<void>;
  /** Creates a token that starts one session. */
  createLink(): Promise<CreatedLink>;
  /** Uses up a token. @returns whether it was valid. */
  useLink(token: string): Promise<boolean>;
}

/** Runs a statement with parameters `?1`, `?2` and so on. @returns the rows that it reads. */
type Run = (sql: string, values: readonly (string | number)[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** The statements are for SQLite and Postgres. */
export class SqlSessions implements SessionStore {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  async startSession(keyHash: string, expiresAt: number): Promise<string> {
    const token = randomToken();
    await this.#run('DELETE FROM admin_sessions WHERE expires_at <= ?1', [Date.now()]);
    await this.#run('INSERT INTO admin_sessions VALUES (?1, ?2, ?3)', [sha256(token), keyHash, expiresAt]);
    return token;
  }

  async findSession(token: string): Promise<StoredSession | undefined> {
    const sql = 'SELECT key_hash, expires_at FROM admin_sessions WHERE hash = ?1 AND expires_at > ?2';
    const [row] = await this.#run(sql, [sha256(token), Date.now()]);
    return row && { keyHash: String(row.key_hash), expiresAt: Number(row.expires_at) };
  }

  async endSession(token: string): Promise<void> {
    await this.#run('DELETE FROM admin_sessions WHERE hash = ?1', [sha256(token)]);
  }

  async createLink(): Promise<CreatedLink> {
    const token = randomToken();
    const now = Date.now();
    await this.#run('DELETE FROM admin_links WHERE expires_at <= ?1', [now]);
    await this.#run('INSERT INTO admin_links VALUES (?1, ?2)', [sha256(token), now + LINK_MS]);
    return { token, expiresAt: now + LINK_MS };
  }

  async useLink(token: string): Promise<boolean> {
    const sql = 'DELETE FROM admin_links WHERE hash = ?1 AND expires_at > ?2 RETURNING hash';
    return (await this.#run(sql, [sha256(token), Date.now()])).length > 0;
  }
}

export class SqliteSessions extends SqlSessions {
  constructor(database: DatabaseSync) {
    super(async (sql, values) => database.prepare(sql).all(...values));
  }
}

/** The value that changes with a session must send. Only a page that has the session can know it. */
export function csrfToken(sessionToken: string): string {
  return hash('sha256', `csrf ${sessionToken}`, 'base64url');
}

export function isCsrfToken(sent: string | undefined, sessionToken: string): boolean {
  const expected = Buffer.from(csrfToken(sessionToken));
  const actual = Buffer.from(sent ?? '');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

function sha256(text: string): string {
  return hash('sha256', text);
}
