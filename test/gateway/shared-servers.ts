import { type PostgresServer, startPostgres } from './postgres/postgres-server.ts';

/** A server that is started when a test needs it first, and that all files of a test process share. */
class SharedServer<T extends { close(): Promise<void> }> {
  readonly #start: () => Promise<T>;
  #started: Promise<T> | undefined;

  constructor(start: () => Promise<T>) {
    this.#start = start;
  }

  get(): Promise<T> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async close(): Promise<void> {
    const started = this.#started;
    this.#started = undefined;
    await (await started)?.close();
  }
}

const postgres = new SharedServer(startPostgres);
const breakablePostgres = new SharedServer(startPostgres);

// A hook of the root suite: it runs after the tests of all files.
after(async () => {
  await Promise.all([postgres, breakablePostgres].map((each) => each.close()));
});

/** The Postgres of all tests that need a database of their own and leave the server alone. */
export function sharedPostgres(): Promise<PostgresServer> {
  return postgres.get();
}

/** The Postgres of tests that kill, freeze or copy the server. Each of them must start it again. */
export function sharedBreakablePostgres(): Promise<PostgresServer> {
  return breakablePostgres.get();
}
