import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha from 'mocha';
import { ROOT } from './suites.ts';

/**
 * Mocha's spec reporter that prints the command that repeats a failure, and writes its counts to the file that
 * SVC_TEST_COUNTS names.
 */
export default class RunReporter extends Mocha.reporters.Spec {
  readonly #failed = new Set<string>();

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.on('fail', (test) => this.#failed.add(fileOf(test)));
    runner.once('end', () => {
      const file = process.env.SVC_TEST_COUNTS;
      // A pending test counts as failed: the project has no skips.
      const { passes, failures, pending } = this.stats;
      if (file) writeFileSync(file, JSON.stringify({ passes, failures: failures + pending }));
    });
  }

  override epilogue(): void {
    super.epilogue();
    for (const file of this.#failed) console.log(`  Repeat: npm test -- ${file}`);
  }
}

/** A hook has no file, its group has. */
function fileOf(test: Mocha.Runnable): string {
  const file = test.file ?? test.parent?.file ?? '';
  return relative(ROOT, file).replaceAll('\\', '/');
}
