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

/** Sessions of browsers and tokens of one-time links, in the state. Only hashes are stored. */
export class Sessions {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Starts a session. @returns its token, for the cookie. */
  start(keyHash: string, expiresAt: number, now = Date.now()): string {
    const token = randomToken();
    this.#database.prepare('DELETE FROM admin_sessions WHERE expires_at <= ?').run(now);
    this.#database.prepare('INSERT INTO admin_sessions VALUES (?, ?, ?)').run(sha256(token), keyHash, expiresAt);
    return token;
  }

  find(token: string, now = Date.now()): StoredSession | undefined {
    const row = this.#database
      .prepare('SELECT key_hash, expires_at FROM admin_sessions WHERE hash = ? AND expires_at > ?')
      .get(sha256(token), now);
    return row && { keyHash: String(row.key_hash), expiresAt: Number(row.expires_at) };
  }

  end(token: string): void {
    this.#database.prepare('DELETE FROM admin_sessions WHERE hash = ?').run(sha256(token));
  }

  /** Creates a token that starts one session. */
  createLink(now = Date.now()): { readonly token: string; readonly expiresAt: number } {
    const token = randomToken();
    this.#database.prepare('DELETE FROM admin_links WHERE expires_at <= ?').run(now);
    this.#database.prepare('INSERT INTO admin_links VALUES (?, ?)').run(sha256(token), now + LINK_MS);
    return { token, expiresAt: now + LINK_MS };
  }

  /** Uses up a token. @returns whether it was valid. */
  useLink(token: string, now = Date.now()): boolean {
    const { changes } = this.#database
      .prepare('DELETE FROM admin_links WHERE hash = ? AND expires_at > ?')
      .run(sha256(token), now);
    return changes > 0;
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
