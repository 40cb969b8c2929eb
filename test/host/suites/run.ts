import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';
import { collectEvidence, failureHooks } from '../evidence.ts';

/** The entry that the extension host calls. The suites are bundled in: `suites.ts` imports them all. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 600_000, color: false, reporter: 'spec' });
  const reports = process.env.SVC_TEST_REPORTS;
  if (reports) mocha.rootHooks(failureHooks((title) => sendFailure(reports, title)));
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  await import('./suites.ts');
  const grep = process.env.SVC_SUITES;
  if (grep) mocha.grep(new RegExp(grep));
  await new Promise<void>((resolve, reject) => {
    const runner = mocha.run((failures) => {
      const counts = process.env.SVC_TEST_COUNTS;
      const passes = runner.stats?.passes ?? 0;
      if (counts) writeFileSync(counts, JSON.stringify({ passes, failures }));
      if (passes === 0 && failures === 0) reject(new Error('No suite ran.'));
      else if (failures > 0) reject(new Error(`${failures} failed`));
      else resolve();
    });
  });
}

/** To the process that has the window: `run-suites.ts`. */
async function sendFailure(reports: string, title: string): Promise<void> {
  const response = await fetch(reports, { method: 'POST', body: JSON.stringify({ title, files: collectEvidence() }) });
  await response.text();
}
