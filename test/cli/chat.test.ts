import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import type { Io } from '../../src/cli/io.ts';
import { main } from '../../src/cli/main.ts';
import { COMPILE_CACHE } from '../compile-cache.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { until } from '../gateway/until.ts';
import { CLI } from '../svc-program.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { svc } from './run-svc.ts';

const SCENARIOS = ['text', 'reasoning-only', 'length', 'status-401', 'stall-mid-stream', 'reset-mid-stream'];
/** The scenario fails as often as its name says, then answers. */
const RETRIED = { 'status-429-retry-after-1-1-times': 'rate', 'status-503-1-times': 'busy' };

describe('svc chat', () => {
  let upstream: Upstream;
  let folder: ProjectFolder;

  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());
  beforeEach(() => {
    folder = new ProjectFolder();
    const cost = { input: 1, output: 2 };
    const models = Object.fromEntries(
      [...SCENARIOS, ...Object.keys(RETRIED)].map((name) => [name, { id: `scenario:${name}`, cost }]),
    );
    const local = { options: { baseURL: `${upstream.url}/v1`, apiKey: 'CANARY-KEY' }, models };
    folder.global({ model: 'local/text', provider: { local } });
  });
  afterEach(() => folder[Symbol.dispose]());

  const last = () => upstream.requests.at(-1)?.body ?? {};
  const asked = () => {
    const messages = last().messages;
    assert.ok(Array.isArray(messages));
    return messages;
  };

  it('svc chat: standard output contains only the answer and a line end', async () => {
    const { code, out, err } = await svc(folder, ['chat', 'Hello', 'there']);
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /\S\n$/);
    assert.deepEqual(asked(), [{ role: 'user', content: 'Hello there' }]);
  });

  it('svc chat: everything after -- is the prompt, also --help', async () => {
    for (const prompt of ['--help', '-h']) {
      const { code, err } = await svc(folder, ['chat', '--', prompt]);
      assert.deepEqual([code, err], [0, '']);
      assert.deepEqual(asked(), [{ role: 'user', content: prompt }]);
    }
    assert.match((await svc(folder, ['chat', '--help', '--', 'x'])).out, /^svc chat /);
  });

  it('svc chat: rejects an unknown variant before a request is sent', async () => {
    const baseURL = `${upstream.url}/v1`;
    const models = { text: { id: 'scenario:text', variants: { high: { reasoning_effort: 'high' } } }, plain: {} };
    folder.global({ model: 'local/text', provider: { local: { options: { baseURL }, models } } });
    const before = upstream.requests.length;
    const near = await svc(folder, ['chat', '--variant', 'hihg', 'Hello']);
    const far = await svc(folder, ['chat', '--variant', 'quick', 'Hello']);
    const none = await svc(folder, ['chat', '-m', 'local/plain', '--variant', 'high', 'Hello']);
    assert.deepEqual([near.code, far.code, none.code], [2, 2, 2]);
    assert.match(near.err, /local\/text has no variant "hihg"\. Did you mean high\?/);
    assert.match(far.err, /It has high\./);
    assert.match(none.err, /It has none\./);
    assert.equal(upstream.requests.length, before);
    assert.equal((await svc(folder, ['chat', '--variant', 'high', 'Hello'])).code, 0);
    assert.equal(last().reasoning_effort, 'high');
  });

  it('svc chat: sends piped input together with the prompt', async () => {
    await svc(folder, ['chat', '-s', 'Be brief.', 'Explain:'], undefined, 'some code\n');
    assert.deepEqual(asked(), [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Explain:\n\nsome code' },
    ]);
  });

  it('svc chat --json: prints text, usage and cost as one JSON object', async () => {
    const plain = await svc(folder, ['chat', 'Hello']);
    const { code, out } = await svc(folder, ['chat', '--json', 'Hello']);
    const answer: unknown = JSON.parse(out);
    assert.equal(code, 0);
    assert.ok(typeof answer === 'object' && answer !== null && 'text' in answer && 'cost' in answer);
    assert.equal(`${answer.text}\n`, plain.out);
    assert.ok(Number(answer.cost) > 0);
    assert.ok(!out.includes('CANARY'));
  });

  it('svc chat: an incomplete answer prints a warning on standard error and exits with 0', async () => {
    const cut = await svc(folder, ['chat', '-m', 'local/length', 'Hello']);
    assert.equal(cut.code, 0);
    assert.match(cut.err, /^warning: The response may be incomplete/);
    const thought = await svc(folder, ['chat', '-m', 'local/reasoning-only', 'Hello']);
    assert.match(thought.err, /reasoning.*raise `limit\.output`/i);
  });

  it('svc chat: an error after partial output keeps the output, prints the error and exits with 1', async () => {
    const refused = await svc(folder, ['chat', '-m', 'local/status-401', 'Hello']);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /^svc: \S/);
    assert.doesNotMatch(refused.err, /CANARY|\n\s+at /);
    const cut = await svc(folder, ['chat', '-m', 'local/reset-mid-stream', 'Hello']);
    assert.equal(cut.code, 1);
    assert.match(cut.out, /^Hello.*\n$/);
  });

  for (const [scenario, what] of Object.entries(RETRIED)) {
    it(`svc chat: says at once that it retries, and how to stop (${what})`, async () => {
      const { code, out, err } = await svc(folder, ['chat', '-m', `local/${scenario}`, 'Hello']);
      assert.equal(code, 0, err);
      assert.match(out, /\S\n$/);
      assert.match(err, /retrying in \d+ s\. Ctrl-C stops\.\n/i);
      if (what === 'rate') assert.match(err, /^Rate limited/);
    });
  }

  it('svc chat: the last used model is stored, and the configured model overrides it', async () => {
    await svc(folder, ['chat', '-m', 'local/length', 'Hello']);
    assert.match(readFileSync(path.join(folder.home, '.local/state/svc/model.json'), 'utf8'), /local\/length/);
    await svc(folder, ['chat', 'Hello']);
    assert.equal(last().model, 'scenario:text');
  });

  it('svc chat: exits with 2 for an unknown model (with a suggestion) and for an empty prompt', async () => {
    const unknown = await svc(folder, ['chat', '-m', 'local/txt', 'Hello']);
    assert.equal(unknown.code, 2);
    assert.match(unknown.err, /There is no model local\/txt\. Did you mean local\/text/);
    const nothing = await svc(folder, ['chat']);
    assert.deepEqual([nothing.code, nothing.out], [2, '']);
    assert.match(nothing.err, /prompt is empty/);
  });

  it('svc chat: without a model, the error explains how to configure one', async () => {
    folder.global({});
    const { code, err } = await svc(folder, ['chat', 'Hello']);
    assert.equal(code, 1);
    assert.match(err, /No model is set up\.\nSet a provider’s key/);
  });

  it('svc chat: Ctrl-C exits with 130, keeps the partial output and closes the socket', async () => {
    const env = { ...folder.env, HOME: folder.home, PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE };
    const args = [CLI, 'chat', '-m', 'local/stall-mid-stream', 'Hello'];
    const child = spawn(process.execPath, args, { cwd: folder.project, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const before = upstream.requests.length;
    const [first] = await once(child.stdout, 'data');
    assert.ok(String(first).length > 0);
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    assert.equal(code, 130);
    assert.equal(await (await upstream.request(before)).closed, true);
  });

  it('svc chat: exits without an error if the output pipe is closed', async () => {
    const env = { ...folder.env, HOME: folder.home, PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE };
    const child = spawn(process.execPath, [CLI, 'chat', 'Hello'], {
      cwd: folder.project,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let err = '';
    child.stderr.on('data', (text) => {
      err += text;
    });
    const [code] = await once(child, 'close');
    assert.deepEqual([code, err], [0, '']);
  });

  it('svc chat: in a conversation, commands show help, change the model and start again', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    let prompts = 0;
    let err = '';
    let prompted: (() => void) | undefined;
    const io: Io = {
      out: async (text) => {
        if (text.includes('> ')) prompts++;
        prompted?.();
      },
      err: async (text) => {
        err += text;
      },
      input,
      env: folder.env,
      platform: 'linux',
      home: folder.home,
      cwd: folder.project,
      signal: new AbortController().signal,
    };
    const ended = main(['chat'], io);
    /** Resolves when a command has printed this. */
    const printed = async (line: string, text: RegExp) => {
      input.write(`${line}\r`);
      await until(`${text} on the error output`, () => text.test(err));
    };
    await new Promise<void>((resolve) => {
      prompted = () => prompts > 0 && resolve();
    });
    await printed('/help', /\/model \[PROVIDER\/MODEL\]/);
    await printed('/model local/length', /Model: local\/length\n/);
    await printed('/model local/nothing', /local\/nothing[\s\S]*Model: local\/length\n$/);
    await printed('/clear', /New conversation\./);
    await printed('/modle', /Unknown command \/modle\. \/help lists the commands\./);
    input.end();
    assert.equal(await ended, 0);
  });

  it('svc chat: in a conversation, each line is sent with the previous messages', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    let out = '';
    let wanted: { readonly text: RegExp; readonly resolve: () => void } | undefined;
    const told = (text: RegExp) =>
      new Promise<void>((resolve) => {
        wanted = { text, resolve };
      });
    const io: Io = {
      out: async (text) => {
        out += text;
        if (wanted?.text.test(out)) wanted.resolve();
      },
      err: async () => undefined,
      input,
      env: folder.env,
      platform: 'linux',
      home: folder.home,
      cwd: folder.project,
      signal: new AbortController().signal,
    };
    const prompts = (n: number) => told(new RegExp(`(?:> [^]*){${n}}$`));
    const started = prompts(1);
    const ended = main(['chat'], io);
    await started;
    const answered = prompts(2);
    input.write('One\\\rmore\r');
    await answered;
    const again = prompts(3);
    input.write('Two\r');
    await again;
    assert.deepEqual(
      asked().map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
    assert.equal(asked()[0].content, 'One\nmore');
    input.write('\u0004');
    assert.equal(await ended, 0);
  });
});
