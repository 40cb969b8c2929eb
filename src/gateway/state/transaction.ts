import type { DatabaseSync } from 'node:sqlite';

/**
 * Runs `work` in a transaction that is rolled back if it fails.
 *
 * @param mode `DEFERRED`: work that only reads, or writes with one statement, takes no lock that it does not need.
 */
export function transaction<T>(database: DatabaseSync, work: () => T, mode: 'IMMEDIATE' | 'DEFERRED' = 'IMMEDIATE'): T {
  database.exec(`BEGIN ${mode}`);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}
