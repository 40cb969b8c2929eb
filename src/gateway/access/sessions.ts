import { hash, randomBytes } from 'node:crypto';

/** How long the token of a one-time link can be used. */
const LINK_MS = 10 * 60_000;
/** Open sessions of one key. A further sign-in ends the one that would end first. */
const MAX_SESSIONS = 20;
const TOKEN = /^[\w-]{43}$/;

/** A signed-in browser. */
export interface StoredSession {
  /** SHA-256 of the key that started it; empty for a one-time link. The session is valid as long as the key is. */
  readonly keyHash: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/**
 * The credential that a browser sends with each call. A cookie is sent to all ports of a host, also to those of other programs, so it
 * opens nothing without the secret, which the page keeps for its origin.
 */
export interface SessionProof {
  /** The value of the cookie. */
  readonly token: string;
  /** The value of the header. Only the answer to the sign-in has it. */
  readonly secret: string;
}

export interface CreatedLink {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** Sessions of browsers and tokens of one-time links, in the state. Only hashes are stored. */
export interface SessionStore {
  /** Distinguishes states in the names of cookies. All gateways that share a state have the same. */
  stateId(): Promise<string>;
  /**
   * Starts a session.
   *
   * @param token the cookie that the browser already has: its other tabs keep their sessions.
   */
  startSession(keyHash: string, expiresAt: number, token?: string): Promise<SessionProof>;
  findSession(proof: SessionProof): Promise<StoredSession | undefined>;
  endSession(proof: SessionProof): Promise<void>;
  /** Creates a token that starts one session. */
  createLink(): Promise<CreatedLink>;
  /** Uses up a token. @returns whether it was valid. */
  useLink(token: string): Promise<boolean>;
}

/** Runs a statement with parameters `?1`, `?2` and so on. @returns the rows that it reads. */
type Run = (sql: string, values: readonly (string | number)[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** The statements are for SQLite and Postgres. */
export abstract class SqlSessions implements SessionStore {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  abstract stateId(): Promise<string>;

  async startSession(keyHash: string, expiresAt: number, token?: string): Promise<SessionProof> {
    const proof = {
      token: token !== undefined && TOKEN.test(token) ? token : randomToken(),
      secret: randomToken(),
    };
    await this.#run('DELETE FROM admin_sessions WHERE expires_at <= ?1', [Date.now()]);
    await this.#run(OLDEST_ENDED, [keyHash, MAX_SESSIONS - 1]);
    await this.#run('INSERT INTO admin_sessions VALUES (?1, ?2, ?3)', [hashProof(proof), keyHash, expiresAt]);
    return proof;
  }

  async findSession(proof: SessionProof): Promise<StoredSession | undefined> {
    const sql = 'SELECT key_hash, expires_at FROM admin_sessions WHERE hash = ?1 AND expires_at > ?2';
    const [row] = await this.#run(sql, [hashProof(proof), Date.now()]);
    return row && { keyHash: String(row.key_hash), expiresAt: Number(row.expires_at) };
  }

  async endSession(proof: SessionProof): Promise<void> {
    await this.#run('DELETE FROM admin_sessions WHERE hash = ?1', [hashProof(proof)]);
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

const OLDEST_ENDED = `DELETE FROM admin_sessions WHERE key_hash = ?1 AND hash NOT IN (
  SELECT hash FROM admin_sessions WHERE key_hash = ?1 ORDER BY expires_at DESC, hash LIMIT ?2
)`;

/** One hash of both, so that one without the other finds no session. */
function hashProof({ token, secret }: SessionProof): string {
  return sha256(`${token} ${secret}`);
}

function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

function sha256(text: string): string {
  return hash('sha256', text);
}
