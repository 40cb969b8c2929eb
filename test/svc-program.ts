import { join } from 'node:path';

/** What `npm test` without a pattern sets: `dist/` is built before the suites. */
export const BUILT = { SVC_TEST_BUILT: '1' };

/** The file of the program `svc`: where it was built just now, the built one, which loads in half the time; else its source. */
export const CLI = join(
  import.meta.dirname,
  '..',
  ...(process.env.SVC_TEST_BUILT === BUILT.SVC_TEST_BUILT ? ['dist', 'cli.js'] : ['src', 'cli', 'main.ts']),
);
