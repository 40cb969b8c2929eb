import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { ProjectFolder } from '../config/project-folder.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { svc } from './run-svc.ts';

function answer(response: ServerResponse, text: string, reason = 'stop'): void {
  const chunk = (piece: string, finish: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, text: piece, finish_reason: finish }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk(text, null)}${chunk('', reason)}data: [DONE]\n\n`);
}

const CODE = 'export function add(a: number, b: number) {\n  return a;\n}\n';

describe('svc edit', () => {
  let upstream: Upstream;
  let folder: ProjectFolder;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());
  beforeEach(() => {
    folder = new ProjectFolder();
    const options = { baseURL: `${upstream.url}/v1` };
    folder.global({ provider: { local: { options, models: { plain: {}, zeta2: {} } } } });
    folder.write('project/add.ts', CODE);
  });
  afterEach(() => folder[Symbol.dispose]());

  const project = () => folder.project;
  const prompt = () => String(upstream.requests.at(-1)?.body.prompt);

  it('svc edit: uses a model with a format for edits, and prints the edit as a diff', async () => {
    upstream.respond((_, response) => answer(response, `${CODE.replace('return a', 'return a + b')}>>>>>>> UPDATED\n`));
    const { code, out, err } = await svc(folder, ['edit', 'add.ts:2:11']);
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^--- a\/add\.ts\n\+\+\+ b\/add\.ts$/m);
    assert.match(out, /^- {2}return a;\n\+ {2}return a \+ b;$/m);
    assert.match(
      prompt(),
      /<filename>add\.ts\n<<<<<<< CURRENT\nexport function add.*\n {2}return a<\|user_cursor\|>;\n\}\n=======\n/,
    );
    assert.equal(readFileSync(path.join(project(), 'add.ts'), 'utf8'), CODE);
  });

  it('svc edit: the uncommitted changes of the file are the recent edits', async () => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: project(), stdio: 'ignore' });
    git('init', '-q');
    git('add', '.');
    git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-q', '-m', 'Begin');
    folder.write('project/add.ts', CODE.replace('a: number', 'a: bigint'));
    upstream.respond((_, response) => answer(response, 'NO_EDITS\n>>>>>>> UPDATED\n'));
    const { code, out, err } = await svc(folder, ['edit', 'add.ts:1:30']);
    assert.deepEqual([code, out, err], [0, '', 'The model proposes no edit.\n']);
    assert.match(
      prompt(),
      /<filename>edit_history\n--- a\/add\.ts\n\+\+\+ b\/add\.ts\n@@ .*\n-export function add\(a: number, .*\n\+export function add\(a: bigint, /,
    );
  });

  it('svc edit: a folder that is a repository by its files runs none of its programs', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: path.join(project(), 'docs'), stdio: 'ignore' });
    folder.write('project/docs/a.ts', CODE);
    git('init', '-q', '--bare', '.');
    const ran = path.join(project(), 'RAN');
    for (const [name, value] of [
      ['core.bare', 'false'],
      ['core.worktree', '.'],
      ['core.fsmonitor', `touch ${ran}; false`],
      ['core.hooksPath', path.join(project(), 'docs')],
      ['diff.external', `touch ${ran}`],
      ['core.pager', `touch ${ran}`],
      ['core.sshCommand', `touch ${ran}`],
    ] as const) {
      git('config', '--file', 'config', name, value);
    }
    const own = ['--git-dir=.', '--work-tree=.', '-c', 'core.fsmonitor=', '-c', 'core.hooksPath=/dev/null'];
    git(...own, 'add', 'a.ts');
    git(...own, '-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-q', '-m', 'Begin');
    folder.write('project/docs/a.ts', CODE.replace('a: number', 'a: bigint'));
    rmSync(ran, { force: true });
    folder.write('project/docs/post-index-change', `#!/bin/sh\ntouch ${ran}\n`);
    chmodSync(path.join(project(), 'docs', 'post-index-change'), 0o755);
    upstream.respond((_, response) => answer(response, 'NO_EDITS\n>>>>>>> UPDATED\n'));
    assert.equal((await svc(folder, ['edit', 'docs/a.ts:1:3'])).code, 0);
    assert.equal(existsSync(ran), false);
  });

  it('svc edit: --apply writes the edit with the line breaks of the file, and changes nothing else', async () => {
    const windows = `${'// line\n'.repeat(200)}${CODE}${'// end\n'.repeat(50)}`.replaceAll('\n', '\r\n');
    folder.write('project/add.ts', windows);
    upstream.respond((request, response) => {
      const region = /<<<<<<< CURRENT\n(.*)=======\n/s.exec(String(request.body.prompt))?.[1] ?? '';
      answer(response, `${region.replace('<|user_cursor|>', '').replace('return a', 'return a + b')}>>>>>>> UPDATED\n`);
    });
    assert.equal((await svc(folder, ['edit', 'add.ts:202:11', '--apply'])).code, 0);
    assert.equal(readFileSync(path.join(project(), 'add.ts'), 'utf8'), windows.replace('return a', 'return a + b'));
  });

  /** Adds `+ b`. */
  const addB = (request: { readonly body: Readonly<Record<string, unknown>> }, response: ServerResponse) => {
    const region = /<<<<<<< CURRENT\n(.*)=======\n/s.exec(String(request.body.prompt))?.[1] ?? '';
    answer(response, `${region.replace('<|user_cursor|>', '').replace('return a', 'return a + b')}>>>>>>> UPDATED\n`);
  };
  const texts: readonly (readonly [name: string, text: string, at: string])[] = [
    ['CRLF and LF', `a();\r\nb();\nc();\n${CODE}`, '5:11'],
    ['CR alone', `// a\r// b\r// c\n${'//\n'.repeat(9)}${CODE}`, '14:11'],
    ['a byte order mark', `\ufeff${CODE}`, '2:11'],
    ['no line break at its end', CODE.trimEnd(), '2:11'],
  ];
  for (const [name, text, at] of texts) {
    it(`svc edit: --apply changes nothing else in a file with ${name}`, async () => {
      folder.write('project/add.ts', text);
      upstream.respond(addB);
      assert.equal((await svc(folder, ['edit', `add.ts:${at}`, '--apply'])).code, 0);
      assert.equal(readFileSync(path.join(project(), 'add.ts'), 'utf8'), text.replace('return a', 'return a + b'));
    });
  }

  it('svc edit: --apply refuses a file that is not UTF-8, and one that is saved while the model answers', async () => {
    const file = path.join(project(), 'add.ts');
    const latin1 = Buffer.from(`// Größe\n${CODE}`, 'latin1');
    writeFileSync(file, latin1);
    const before = upstream.requests.length;
    const refused = await svc(folder, ['edit', 'add.ts:3:11', '--apply']);
    assert.equal(refused.code, 2);
    assert.match(refused.err, /add\.ts is not UTF-8 text/);
    assert.deepEqual([upstream.requests.length, readFileSync(file)], [before, latin1]);
    const saved = `${CODE}export const saved = 1;\n`;
    writeFileSync(file, CODE);
    upstream.respond((request, response) => {
      writeFileSync(file, saved);
      addB(request, response);
    });
    const late = await svc(folder, ['edit', 'add.ts:2:11', '--apply']);
    assert.equal(late.code, 2);
    assert.match(late.err, /was changed in the meantime/);
    assert.equal(readFileSync(file, 'utf8'), saved);
  });

  it('svc edit: secrets are masked in the prompt and restored in the edit', async () => {
    const key = `sk-ant-api03-${'Q7x'.repeat(30)}AA`;
    folder.write('project/add.ts', `const key = '${key}';\n${CODE}`);
    upstream.respond((request, response) => {
      const region = /<<<<<<< CURRENT\n(.*)=======\n/s.exec(String(request.body.prompt))?.[1] ?? '';
      answer(response, `${region.replace('<|user_cursor|>', '').replace('return a', 'return a + b')}>>>>>>> UPDATED\n`);
    });
    const { out } = await svc(folder, ['edit', 'add.ts:3:11', '--apply']);
    assert.ok(!prompt().includes(key), prompt());
    assert.ok(!out.includes('qxzjkvw'), out);
    assert.ok(readFileSync(path.join(project(), 'add.ts'), 'utf8').startsWith(`const key = '${key}';\n`));
  });

  for (const [name, args, expected] of [
    ['a model that cannot predict edits', ['edit', 'add.ts:2:5', '-m', 'local/plain'], /cannot be used for this/],
    ['a position outside of the file', ['edit', 'add.ts:99:1'], /there is no line 99/],
    ['no position', ['edit', 'add.ts'], /svc edit FILE:LINE:COL/],
    ['--apply to standard input', ['edit', '-:1:1', '--apply'], /standard input can’t be changed/],
  ] as const) {
    it(`svc edit: ${name} is refused before anything is sent`, async () => {
      const before = upstream.requests.length;
      const { code, err } = await svc(folder, [...args], undefined, 'x\n');
      assert.ok(code !== 0);
      assert.match(err, expected);
      assert.equal(upstream.requests.length, before);
    });
  }
});
