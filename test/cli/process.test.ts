import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { readPiped } from '../../src/cli/input/standard-input.ts';
import { COMPILE_CACHE } from '../compile-cache.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { CLI } from '../svc-program.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';

const LAUNCHER = fileURLToPath(new URL('../../src/cli/launch/cli.js', import.meta.url));
const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

describe('svc as a process', () => {
  let upstream: Upstream;
  let folder: ProjectFolder;

  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());
  beforeEach(() => {
    upstream.forget();
    folder = new ProjectFolder();
    const options = { baseURL: `${upstream.url}/v1`, fimURL: upstream.url };
    const models = { large: { id: 'large' }, zeta2: {}, 'codestral-latest': {} };
    folder.global({
      provider: {
        local: { fim: 'mistral', options, models },
        listed: { options: { baseURL: `${upstream.url}/listed` } },
      },
    });
    folder.write('project/sum.ts', 'function add(a, b) {\n  return \n}\n');
  });
  afterEach(() => folder[Symbol.dispose]());

  const start = (args: readonly string[]) => {
    const env = { ...folder.env, HOME: folder.home, PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE };
    return spawn(process.execPath, [CLI, ...args], { cwd: folder.project, env, stdio: ['pipe', 'pipe', 'pipe'] });
  };

  const COMMANDS: readonly (readonly string[])[] = [
    ['chat', '-m', 'local/large', 'Hello'],
    ['chat', '--json', '-m', 'local/large', 'Hello'],
    ['fim', '-m', 'local/codestral-latest', 'sum.ts:2:10'],
    ['edit', '-m', 'local/zeta2', 'sum.ts:2:10'],
    ['models'],
    ['config'],
  ];
  for (const args of COMMANDS) {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      it(`svc ${args.join(' ')}: ${signal} stops the request and exits with ${CODES[signal]}, quietly`, async () => {
        upstream.respond(() => undefined);
        const child = start(args);
        child.stdin.end();
        const err = text(child.stderr);
        const request = await upstream.request(0);
        child.kill(signal);
        const [code] = await once(child, 'close');
        assert.deepEqual([code, await err], [CODES[signal], '']);
        assert.equal(await request.closed, true);
      });
    }
  }

  it('svc chat: the request stops when the reader of the output ends, and the exit is quiet', async () => {
    const go = Promise.withResolvers<void>();
    let sent = 0;
    upstream.respond(async (_request, response) => {
      const chunk = (content: string) =>
        response.write(
          `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
        );
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      chunk('first line\nsecond ');
      await go.promise;
      // Ends only when the socket is closed.
      while (!response.destroyed) {
        chunk(`more ${sent++}\n`);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const child = start(['chat', '-m', 'local/large', 'Hello']);
    child.stdin.end();
    const err = text(child.stderr);
    const request = await upstream.request(0);
    const [first] = await once(child.stdout, 'data');
    assert.match(String(first), /^first line\n/);
    child.stdout.destroy();
    go.resolve();
    const [code] = await once(child, 'close');
    assert.deepEqual([code, await err], [0, '']);
    assert.equal(await request.closed, true);
  });

  it('svc: an old Node.js prints one line with the version that is needed', () => {
    const old = "Object.defineProperty(process.versions, 'node', { value: '18.20.4' });";
    const preload = `data:text/javascript,${encodeURIComponent(old)}`;
    const { status, stderr, stdout } = spawnSync(process.execPath, ['--import', preload, LAUNCHER, 'models'], {
      encoding: 'utf8',
    });
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^svc: Svc needs Node\.js 22\.13 or newer, and runs with v[\d.]+\.\n$/);
  });

  it('svc: the entry has no syntax that old versions of Node.js do not parse', () => {
    const code = readFileSync(LAUNCHER, 'utf8');
    assert.doesNotMatch(code.replace(/^\/\/.*$/gm, ''), /^\s*(?:import|export)\s|\?\.|\?\?|\bawait\b|\?\?=/m);
    execFileSync(process.execPath, ['--check', LAUNCHER]);
  });
});

describe('piped input', () => {
  const utf16be = Buffer.from('\uFEFFgrün\n', 'utf16le').swap16();
  const read = async (...chunks: readonly Buffer[]) => {
    let err = '';
    const io = {
      input: Readable.from(chunks),
      signal: new AbortController().signal,
      err: async (line: string) => {
        err += line;
      },
    };
    return { text: await readPiped(io), err };
  };

  const TEXTS: readonly [name: string, bytes: Buffer, text: string][] = [
    ['UTF-8', Buffer.from('grün → 中\n'), 'grün → 中\n'],
    ['UTF-8 with a byte order mark', Buffer.from('\uFEFFgrün\n'), 'grün\n'],
    ['UTF-16 LE', Buffer.from('\uFEFFgrün\n', 'utf16le'), 'grün\n'],
    ['UTF-16 BE', utf16be, 'grün\n'],
    ['nothing', Buffer.alloc(0), ''],
    ['colours of a terminal', Buffer.from('\u001b[31mred\u001b[0m\r\n\tend\f'), '\u001b[31mred\u001b[0m\r\n\tend\f'],
    ['a text with U+FFFD', Buffer.from('a\uFFFDb and more text'), 'a\uFFFDb and more text'],
  ];
  for (const [name, bytes, expected] of TEXTS) {
    it(`piped input: ${name} is read, also byte by byte`, async () => {
      assert.deepEqual(await read(bytes), { text: expected, err: '' });
      assert.deepEqual(await read(...[...bytes].map((byte) => Buffer.from([byte]))), { text: expected, err: '' });
    });
  }

  it('piped input: a text in another encoding is read with a warning', async () => {
    const { text: found, err } = await read(Buffer.from('une journée à Paris, avec un ami', 'latin1'));
    assert.equal(found, 'une journ\uFFFDe \uFFFD Paris, avec un ami');
    assert.match(err, /^warning: The piped input is not UTF-8\./);
  });

  for (const [name, bytes] of [
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13])],
    ['compressed data', Buffer.from([0x1f, 0x8b, 8, 1, 0xff, 0xab, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 2, 0x86])],
    ['UTF-16 without a byte order mark', Buffer.from('text', 'utf16le')],
  ] as const) {
    it(`piped input: ${name} is refused`, async () => {
      await assert.rejects(
        read(bytes),
        /^Error: The piped input is binary, not text\. Pipe a text in UTF-8 or UTF-16\.$/,
      );
    });
  }
});
