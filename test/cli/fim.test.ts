import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { ProjectFolder } from '../config/project-folder.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { svc } from './run-svc.ts';

/** A FIM answer as Mistral streams it. */
function answer(response: ServerResponse, text: string, reason = 'stop'): void {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk({ content: text }, null)}${chunk({}, reason)}data: [DONE]\n\n`);
}

describe('svc fim', () => {
  let upstream: Upstream;
  let folder: ProjectFolder;

  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());
  beforeEach(() => {
    folder = new ProjectFolder();
    const options = { baseURL: `${upstream.url}/v1`, fimURL: upstream.url };
    folder.global({ provider: { local: { fim: 'mistral', options, models: { 'codestral-latest': {} } } } });
    folder.write('project/sum.ts', 'function add(a, b) {\n  return \n}\n');
  });
  afterEach(() => folder[Symbol.dispose]());

  const last = () => upstream.requests.at(-1)?.body ?? {};

  it('svc fim: sends the text before and after the position and prints the completion', async () => {
    upstream.respond((_, response) => answer(response, 'a + b;'));
    const { code, out, err } = await svc(folder, ['fim', 'sum.ts:2:10']);
    assert.deepEqual([code, out, err], [0, 'a + b;\n', '']);
    assert.equal(last().prompt, '// Path: sum.ts\nfunction add(a, b) {\n  return ');
    assert.equal(last().suffix, '\n}\n');
  });

  it('svc fim: removes text that repeats the code after the position, like the editor', async () => {
    upstream.respond((_, response) => answer(response, 'a + b;\n}\n'));
    assert.equal((await svc(folder, ['fim', 'sum.ts:2:10'])).out, 'a + b;\n');
  });

  it('svc fim: reads standard input with the language of --language', async () => {
    upstream.respond((_, response) => answer(response, 'a + b'));
    const { out } = await svc(folder, ['fim', '-:1:12', '--language', 'python'], undefined, 'print(1 + ok)\n');
    assert.equal(out, 'a + b\n');
    assert.equal(last().prompt, 'print(1 + o');
  });

  it('svc fim --json: prints text and usage as JSON', async () => {
    upstream.respond((_, response) => answer(response, 'a + b;'));
    const { out } = await svc(folder, ['fim', '--json', 'sum.ts:2:10']);
    const expected = { model: 'local/codestral-latest', text: 'a + b;', usage: null, cost: null, error: null };
    assert.deepEqual(JSON.parse(out), expected);
  });

  it('svc fim: does not send secrets in the file, and restores them in the completion', async () => {
    folder.write('project/key.ts', `const key = 'sk-proj-abcdefghij0123456789';\nconst again = \n`);
    upstream.respond((request, response) => {
      const [, standIn] = /'(sk-proj-[^']*|[^']{20,})'/.exec(String(request.body.prompt)) ?? [];
      answer(response, `'${standIn}';`);
    });
    const { out } = await svc(folder, ['fim', 'key.ts:2:15']);
    assert.ok(!JSON.stringify(last()).includes('abcdefghij0123456789'));
    assert.equal(out, "'sk-proj-abcdefghij0123456789';\n");
  });

  it('svc fim: exits with 1 and the reason if the provider rejects the request', async () => {
    upstream.respond((_, response) => {
      response.writeHead(402, { 'content-type': 'application/json' }).end('{"message":"No credit."}');
    });
    const { code, out, err } = await svc(folder, ['fim', 'sum.ts:2:10']);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /No credit|funds|credit/);
  });

  for (const [args, reason] of [
    [['fim'], /Add a position/],
    [['fim', 'sum.ts'], /Add a position/],
    [['fim', 'sum.ts:0:1'], /Add a position/],
    [['fim', 'gone.ts:1:1'], /The file gone\.ts does not exist/],
    [['fim', 'sum.ts:9:1'], /has 4 lines; there is no line 9/],
    [['fim', 'sum.ts:2:40'], /ends at column 10; there is no column 40/],
    [['fim', '.env:1:1'], /\.env was not sent: files of this type usually contain secrets/],
    [['fim', 'sum.ts:2:10', '--max-lines', 'x'], /--max-lines takes a number/],
    [['fim', 'sum.ts:2:10', '-m', 'local/nope'], /There is no model local\/nope/],
  ] as const) {
    it(`svc fim: exits with 2 without a request: svc ${args.join(' ')}`, async () => {
      const before = upstream.requests.length;
      const { code, out, err } = await svc(folder, args);
      assert.deepEqual([code, out, upstream.requests.length], [2, '', before]);
      assert.match(err, reason);
    });
  }

  const refused = async (file: string, reason: RegExp) => {
    const before = upstream.requests.length;
    const { code, err } = await svc(folder, ['fim', `${file}:1:1`]);
    assert.deepEqual([code, upstream.requests.length], [2, before], file);
    assert.match(err, reason);
  };

  it('svc fim: does not send a file that a .gitignore of its worktree excludes', async () => {
    folder.write('project/.gitignore', 'build/*\n!build/kept.ts\nlocal/\ncaf\u00e9.ts\n');
    folder.write('project/build/.gitignore', '!deep.ts\n');
    folder.write('project/local/.gitignore', '!again.ts\n');
    folder.write('project/.git/info/exclude', 'mine.ts\n');
    for (const name of ['build/out.ts', 'local/again.ts', 'cafe\u0301.ts', 'mine.ts']) {
      folder.write(`project/${name}`, 'let a;\n');
      await refused(name, /excluded by a \.gitignore file/);
    }
    upstream.respond((_, response) => answer(response, 'x'));
    for (const name of ['build/kept.ts', 'build/deep.ts']) {
      folder.write(`project/${name}`, 'let a;\n');
      assert.equal((await svc(folder, ['fim', `${name}:1:1`])).code, 0, name);
    }
  });

  it('svc fim: does not send a secret or ignored file through a symbolic link', async () => {
    folder.write('project/.gitignore', 'local/\n');
    folder.write('project/local/plain.ts', 'let a;\n');
    folder.write('elsewhere/prod.env', 'TOKEN=1\n');
    symlinkSync(path.join(folder.root, 'elsewhere/prod.env'), path.join(folder.project, 'notes.ts'));
    symlinkSync('local/plain.ts', path.join(folder.project, 'plain.ts'));
    symlinkSync(path.join(folder.root, 'elsewhere'), path.join(folder.project, 'folder'));
    await refused('notes.ts', /contain secrets/);
    await refused('folder/prod.env', /contain secrets/);
    await refused('plain.ts', /\.gitignore/);
  });
});
