import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { offerTerminalCommand } from '../../../src/extension/terminal-command.ts';
import { waitUntil } from '../wait-until.ts';

/** The local gateway, started and stopped by commands. */
describe('the local gateway in VS Code', () => {
  const start = () => vscode.commands.executeCommand<string>('svc.gateway.start');
  const stop = () => vscode.commands.executeCommand('svc.gateway.stop');
  const healthy = async (url: string) => (await fetch(`${url}/healthz`)).ok;
  /** Resolves when no process listens there. */
  async function gone(url: string): Promise<void> {
    for (;;) {
      try {
        await (await fetch(`${url}/healthz`)).text();
      } catch {
        return;
      }
    }
  }
  const keep = (value: boolean | undefined) =>
    vscode.workspace.getConfiguration('svc.gateway').update('keepRunning', value, vscode.ConfigurationTarget.Global);

  it('local gateway: starts on loopback, shows the connection settings and stops', async () => {
    const url = await start();
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.ok(await healthy(url));
    assert.equal(await start(), url);
    await vscode.commands.executeCommand('svc.gateway.copyEnvironment');
    const copied = await vscode.env.clipboard.readText();
    const [, key] = /^export OPENAI_API_KEY=(\S+)$/m.exec(copied) ?? [];
    assert.ok(copied.includes(`export OPENAI_BASE_URL=${url}/v1\n`));
    const ask = (bearer: string | undefined) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: '{}',
      });
    assert.equal((await ask('svc-wrong-key')).status, 401);
    assert.equal((await ask(key)).status, 400);
    await stop();
    await gone(url);
  });

  /** Process ids of the gateways that this window has started. */
  async function children(): Promise<readonly number[]> {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,command=']);
    const rows = stdout.split('\n').map((row) => row.trim().split(/\s+/));
    const ours = rows.filter(([, parent, ...words]) => parent === String(process.pid) && words.includes('serve'));
    return ours.map(([pid]) => Number(pid));
  }

  /** The one that runs. Those that were stopped end some time after they have closed their port. */
  async function onlyChild(): Promise<number> {
    const [child] = await waitUntil('one process', children, ({ length }) => length === 1);
    return child ?? assert.fail();
  }

  it('local gateway: starts once for several commands', async () => {
    await waitUntil('no process of an earlier test', children, ({ length }) => length === 0);
    const urls = await Promise.all([start(), start(), start()]);
    assert.equal(new Set(urls).size, 1);
    assert.equal((await children()).length, 1);
    await stop();
    await gone(urls[0] ?? '');
  });

  it('local gateway: stopping during the start prevents the start, and a later command starts it', async () => {
    const overtaken = start();
    await stop();
    assert.equal(await overtaken, undefined);
    const url = await start();
    assert.ok(await healthy(url));
    await onlyChild();
    await stop();
    await gone(url);
  });

  it('local gateway: restarts at the same address after it was killed', async () => {
    const url = await start();
    process.kill(await onlyChild(), 'SIGKILL');
    await gone(url);
    for (;;) {
      const back = await fetch(`${url}/healthz`).catch(() => undefined);
      if (back?.ok) break;
    }
    await stop();
    await gone(url);
  });

  it('terminal command: the variables of a window are not kept on disk', async () => {
    const kept: string[] = [];
    const environment = {
      persistent: true,
      description: undefined,
      clear: () => undefined,
      append: () => undefined,
      replace(name: string) {
        if (this.persistent) kept.push(name);
      },
      prepend: () => undefined,
      get: () => undefined,
      delete: () => undefined,
      forEach: () => undefined,
      getScoped: () => assert.fail(),
      [Symbol.iterator]: () => [][Symbol.iterator](),
    } satisfies vscode.GlobalEnvironmentVariableCollection;
    const variables = Promise.resolve({ SVC_WINDOW: 'token' });
    const offered = offerTerminalCommand(environment, '/bin', variables);
    await variables;
    offered.dispose();
    assert.equal(environment.persistent, false);
    assert.deepEqual(kept, []);
  });

  it('local gateway: shows its requests', async () => {
    await vscode.commands.executeCommand('svc.gateway.usage');
    assert.match(vscode.window.activeTextEditor?.document.getText() ?? '', /^MODEL +COST USD +REQUESTS .*TOKENS\n/);
  });

  it('local gateway: its admin page is not opened while it is off', async () => {
    assert.equal(await vscode.commands.executeCommand('svc.gateway.openAdminPage'), undefined);
    await stop();
  });

  it('local gateway: continues without VS Code if the user chooses so, and is found again', async () => {
    await keep(true);
    try {
      const url = await start();
      assert.ok(await healthy(url));
      // It does not end with the window: send a signal.
      await stop();
      await gone(url);
    } finally {
      await keep(undefined);
    }
  });
});
