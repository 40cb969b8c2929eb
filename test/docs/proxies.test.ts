import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { KEY, providers, startTestGateway, type TestGateway } from '../gateway/gateway-under-test.ts';
import { freePort } from '../host/free-port.ts';
import { CADDY, NGINX, type Program, programPath } from '../host/programs.ts';
import { blocks } from './pages.ts';

const HOST = 'ai.example.com';

const snippets = blocks('docs/gateway.md');
const snippet = (part: string) => snippets.find((block) => block.text.includes(part))?.text ?? '';

interface Setup {
  readonly program: Program;
  readonly text: string;
  /** Writes the file around the snippet and returns the arguments that start the program in the foreground. */
  readonly around: (place: { readonly folder: string; readonly port: number; readonly text: string }) => string[];
}

/** The unchanged snippets, except for the address of the gateway. TLS is not tested. */
const SETUPS: readonly Setup[] = [
  {
    program: NGINX,
    text: snippet('proxy_pass'),
    around: ({ folder, port, text }) => {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const http = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
      const user = process.getuid?.() === 0 ? 'user root;' : '';
      const server = `server { listen 127.0.0.1:${port};\n${text}\n}`;
      const rest = `daemon off; pid ${folder}/nginx.pid; events {}`;
      writeFileSync(join(folder, 'nginx.conf'), `${user} ${rest}\nhttp { access_log off; ${http}\n${server} }\n`);
      return ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
    },
  },
  {
    program: CADDY,
    text: snippet('reverse_proxy'),
    around: ({ folder, port, text }) => {
      const site = text.replace(HOST, `http://${HOST}:${port}`).replace('{\n', '{\n\tbind 127.0.0.1\n');
      writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n}\n${site}\n`);
      return ['run', '--config', join(folder, 'Caddyfile')];
    },
  },
];

describe('the proxies of docs/gateway.md', () => {
  for (const { program, text: written, around } of SETUPS) {
    describe(program.name, () => {
      let gateway: TestGateway;
      let proxy: ChildProcess;
      let ended: Promise<unknown> | undefined;
      let port: number;
      const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-'));

      before(async () => {
        const path = programPath(program);
        gateway = await startTestGateway({
          config: (url) => ({ provider: providers(url), gateway: { allowedHosts: [HOST] } }),
        });
        port = await freePort();
        const here = written.replace('127.0.0.1:4180', new URL(gateway.url).host);
        assert.notEqual(here, written);
        const env = { PATH: process.env.PATH, HOME: folder };
        proxy = spawn(path, around({ folder, port, text: here }), { stdio: ['ignore', 'ignore', 'pipe'], env });
        ended = once(proxy, 'close');
        await listening(proxy, port);
      });
      after(async () => {
        proxy?.kill();
        await ended;
        await gateway?.close();
        rmSync(folder, { recursive: true, force: true });
      });

      const ask = (path: string, body?: string, host = HOST) =>
        asked({ port, host, path, ...(body === undefined ? {} : { body }) });
      const question = (scenario: string) =>
        JSON.stringify({
          model: 'chat/m',
          stream: true,
          messages: [{ role: 'user', content: `Hi [[scenario:${scenario}]]` }],
        });

      it(`${program.name}: forwards each chunk of an answer as it arrives, and the disconnection of the client`, async () => {
        const answer = await ask('/v1/chat/completions', question('stall-mid-stream'));
        assert.equal(answer.statusCode, 200);
        await new Promise<void>((resolve) => answer.on('data', (part) => String(part).includes('Hello') && resolve()));
        answer.destroy();
        assert.equal(await gateway.upstream.requests.at(-1)?.closed, true);
      });

      it(`${program.name}: forwards the requested host name to the gateway`, async () => {
        assert.match(await text(await ask('/v1/models')), /chat\/m/);
        const other = await ask('/v1/models', undefined, 'evil.example');
        assert.doesNotMatch(await text(other), /chat\/m/);
      });

      it(`${program.name}: does not expose the metrics`, async () => {
        assert.equal((await gateway.get('/metrics')).status, 200);
        assert.equal((await ask('/metrics')).statusCode, 401);
      });

      it(`${program.name}: the gateway rejects bodies that are too large`, async () => {
        const answer = await ask('/v1/chat/completions', JSON.stringify({ model: 'x'.repeat(24.5 * 2 ** 20) }));
        assert.equal(answer.statusCode, 413);
        assert.ok(JSON.parse(await text(answer)).error_type);
      });
    });
  }
});

interface Asked {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly body?: string;
}

function asked({ port, host, path, body }: Asked): Promise<IncomingMessage> {
  const key = body === undefined ? {} : { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const headers = { host, ...key };
  return new Promise((resolve, reject) => {
    const asking = request({ port, path, method: body === undefined ? 'GET' : 'POST', headers });
    asking.on('response', resolve).on('error', reject).end(body);
  });
}

/** Waits until it answers. @throws with its output if it ends before. */
async function listening(proxy: ChildProcess, port: number): Promise<void> {
  let said = '';
  proxy.stderr?.on('data', (part) => {
    said += part;
  });
  for (;;) {
    if (proxy.exitCode !== null) throw new Error(said);
    const answered = await asked({ port, host: HOST, path: '/healthz' }).then(
      ({ statusCode }) => statusCode === 200,
      () => false,
    );
    if (answered) return;
  }
}
