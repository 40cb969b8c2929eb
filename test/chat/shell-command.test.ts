import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningCommand, shellArguments, startShellCommand } from '../../src/chat/tools/shell-command.ts';
import { until } from '../gateway/until.ts';

/** A process that has ended and is not collected yet does not run. */
function isRunning(pid: string): boolean {
  try {
    return !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('shell command', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-shell-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function run(command: string, use: (running: RunningCommand, output: string) => void = () => undefined) {
    let output = '';
    const running = startShellCommand({
      ...{ shell: '/bin/bash', command, cwd: folder, env: process.env },
      onOutput: (text) => {
        output += text;
        use(running, output);
      },
    });
    return { code: await running.ended, output };
  }

  for (const [command, expected] of [
    ['echo !! !$', '!! !$\n'],
    ['printf "[%s]" a\tb', '[a][b]'],
    ["printf '[%s]' 'a\tb'", '[a\tb]'],
    ['echo one\necho two', 'one\ntwo\n'],
    ['cat <<E\na\tb\nE', 'a\tb\n'],
    ['echo "$0 $#"', '/bin/bash 0\n'],
    ["echo 'it''s' \"a\\\"b\" $'c'", 'its a"b c\n'],
    ['set -o | grep -c "history *on"', '0\n'],
    ['echo é 漢 👋', 'é 漢 👋\n'],
  ] as const) {
    it(`shell command: is passed unchanged as one argument: ${JSON.stringify(command)}`, async () =>
      assert.equal((await run(command)).output, expected));
  }

  it('shell command: a command that starts like an option is a command', async () => {
    assert.equal((await run('-i')).code, 127);
    // The two outputs are two pipes, which are read in any order.
    assert.match((await run('+x; echo on')).output, /^on$/m);
  });

  it('shell command: returns the exit code or signal, and both outputs', async () => {
    assert.deepEqual(await run('echo out; echo err >&2; exit 3'), { code: 3, output: 'out\nerr\n' });
    assert.equal((await run('kill -9 $$')).code, 'SIGKILL');
  });

  it('shell command: stop kills all processes that it started', async () => {
    const { code, output } = await run('sleep 1000 & echo "$!."; wait', (running, soFar) => {
      if (soFar.includes('.')) running.kill();
    });
    assert.equal(code, 'SIGTERM');
    // The signal was sent, and the process ends at some time after it.
    await until('the child process ends', () => !isRunning(output.trim().replace('.', '')));
  });

  it('shell command: ends with its shell, even if background processes remain', async () => {
    const { code, output } = await run('sleep 1000 & echo $!');
    assert.equal(code, 0);
    process.kill(Number(output));
  });

  it('shell command: reads the input of the user', async () => {
    const { output } = await run('echo ?; read name; echo "Hello $name"', (running, soFar) => {
      if (soFar === '?\n') running.input('Ada\n');
    });
    assert.equal(output, '?\nHello Ada\n');
  });

  it('shell command: does not receive the environment variables of the editor', async () => {
    process.env.VSCODE_SECRET_HOOK = 'x';
    process.env.ELECTRON_RUN_AS_NODE = '1';
    const { output } = await run('env');
    delete process.env.VSCODE_SECRET_HOOK;
    delete process.env.ELECTRON_RUN_AS_NODE;
    assert.doesNotMatch(output, /VSCODE_|ELECTRON_/);
    assert.match(output, /^PATH=/m);
  });

  it('shell command: fails if the shell does not exist', async () => {
    const options = { shell: '/no/such/shell', command: 'true', cwd: folder, env: {}, onOutput: () => undefined };
    await assert.rejects(startShellCommand(options).ended, /ENOENT/);
  });

  it('shell command: uses the arguments of each kind of shell', () => {
    const decoded = Buffer.from(shellArguments('C:\\x\\pwsh.exe', 'a "b"').args.at(-1) ?? '', 'base64');
    assert.equal(decoded.toString('utf16le'), 'a "b"');
    assert.deepEqual(shellArguments('C:\\Windows\\cmd.exe', 'dir "a"').args, ['/d', '/s', '/c', '"dir "a""']);
    assert.throws(() => shellArguments('cmd.exe', 'dir\ndel x'), /one line/);
    assert.deepEqual(shellArguments('/usr/bin/fish', 'ls').args, ['-c', 'ls']);
  });
});
