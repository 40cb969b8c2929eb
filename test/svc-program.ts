import { join } from 'node:path';

/** What `npm test` without a pattern sets: `dist/` is built before the suites. */
export const BUILT = { SVC_TEST_BUILT: '1' };

/** The file of the program `svc`: the built one, if it is certain that it is not old, because it loads in half the time. */
export const CLI = join(
  import.meta.dirname,
  '..',
  ...(process.env.SVC_TEST_BUILT === BUILT.SVC_TEST_BUILT ? ['dist', 'cli.js'] : ['src', 'cli', 'main.ts']),
);
