import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

/** The entry that the extension host calls. The suites are bundled in: `suites.ts` imports them all. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 600_000, color: false, reporter: 'spec' });
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
