import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sharedPostgres } from '../gateway/shared-servers.ts';
import { freePort } from '../host/free-port.ts';
import { HAPROXY, programPath } from '../host/programs.ts';
import { startUpstream } from '../upstream/upstream.ts';
import { withPorts } from './balancers.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The commands of a section of docs/gateway.md. */
function commandsOf(section: string): string {
  const text = readFileSync(join(ROOT, 'docs', 'gateway.md'), 'utf8');
  const [, after = ''] = text.split(`### ${section}\n`);
  const [own = ''] = after.split('\n### ');
  return [...own.matchAll(/^ {3}```sh\n([\s\S]*?)^ {3}```$/gm)]
    .map(([, code = '']) => code.replace(/^ {3}/gm, ''))
    .join('\n');
}

describe('docs/gateway.md: a first fleet', () => {
  it('its commands start three gateways with TLS and answer the first request', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-first-fleet-'));
    const upstream = await startUpstream();
    const server = await sharedPostgres();
    mkdirSync(join(folder, 'bin'));
    const svc = join(folder, 'bin', 'svc');
    writeFileSync(svc, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'src', 'cli', 'main.ts')}" "$@"\n`);
    chmodSync(svc, 0o755);
    copyFileSync(join(ROOT, 'deploy', 'haproxy.cfg'), join(folder, 'haproxy.cfg'));
    // The commands as they are, with free ports, and with a provider that costs nothing.
    const ports = new Map<number, number>();
    for (const port of [4181, 4182, 4183, 8080, 8443]) ports.set(port, await freePort());
    const script = withPorts(commandsOf('A first fleet'), ports).replace(
      '"options": {',
      `"options": { "baseURL": "${upstream.url}/v1", `,
    );
    const env = {
      PATH: [dirname(svc), dirname(programPath(HAPROXY)), process.env.PATH].join(':'),
      HOME: folder,
      DATABASE_URL: await server.database(),
      MISTRAL_API_KEY: 'sk-test',
      SVC_DISABLE_CATALOG_REFRESH: '1',
      SVC_BIND: `127.0.0.1:${ports.get(8080)}`,
      SVC_GATEWAY_1: `127.0.0.1:${ports.get(4181)}`,
      SVC_GATEWAY_2: `127.0.0.1:${ports.get(4182)}`,
      SVC_GATEWAY_3: `127.0.0.1:${ports.get(4183)}`,
    };
    // A group of its own, so that all it started ends with it.
    const shell = spawn('bash', ['-e', '-c', `${script}\necho; echo answered`], { cwd: folder, env, detached: true });
    let out = '';
    let err = '';
    shell.stderr.on('data', (part) => {
      err += part;
    });
    try {
      for await (const part of shell.stdout) {
        out += part;
        if (out.includes('answered')) break;
      }
      const answer = /\{"id".*\}/.exec(out)?.[0] ?? assert.fail(out + err);
      assert.equal(JSON.parse(answer).choices[0].message.role, 'assistant');
      assert.doesNotMatch(err, /parsing|deprecated/);
    } finally {
      const ended = shell.exitCode === null ? once(shell, 'exit') : undefined;
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
      await ended;
      await upstream.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});
