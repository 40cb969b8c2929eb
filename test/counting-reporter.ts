import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

/** Mocha's spec reporter that also writes its counts to the file that SVC_TEST_COUNTS names. */
export default class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once('end', () => {
      const file = process.env.SVC_TEST_COUNTS;
      // A pending test counts as failed: the project has no skips.
      const { passes, failures, pending } = this.stats;
      if (file) writeFileSync(file, JSON.stringify({ passes, failures: failures + pending }));
    });
  }
}
