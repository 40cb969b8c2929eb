import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startSimulatedProvider } from '../../scripts/simulated-provider/server.ts';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { main } from '../../src/cli/main.ts';
import { svc, svcProcess } from '../cli/run-svc.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { blocks, commands, PAGES, ROOT } from './pages.ts';

const all = PAGES.flatMap(blocks);

describe('snippets in the documentation', () => {
  it('snippets: each has a kind that this test checks', () => {
    // Those in SQL are run by test/gateway/postgres/managed-server.test.ts, those in YAML by tool-setups.test.ts.
    const known = new Set(['sh', 'json', 'jsonc', 'toml', 'ini', 'nginx', 'sql', 'yaml', '']);
    assert.deepEqual(
      all.filter(({ language }) => !known.has(language)).map(({ page, line }) => `${page}:${line}`),
      [],
    );
  });

  for (const { page, line, text } of all.filter(({ language }) => language === 'jsonc')) {
    it(`${page}:${line}: the configuration is valid`, async () => {
      using folder = new ProjectFolder();
      for (const [, name = ''] of text.matchAll(/\{env:([^}]+)\}/g)) folder.env[name] = 'value';
      for (const [, file = ''] of text.matchAll(/\{file:~\/([^}]+)\}/g)) folder.write(join('home', file), 'value');
      folder.global(text.trimStart().startsWith('{') ? text : `{${text}}`);
      const { diagnostics } = await folder.load();
      assert.deepEqual(
        diagnostics.filter(({ severity }) => severity !== 'information').map(({ message }) => message),
        [],
      );
    });
  }

  it('snippets: JSON is valid', () => {
    for (const { language, text } of all) if (language === 'json') JSON.parse(text);
  });

  for (const block of all.filter(({ language, text }) => language === 'sh' && /^(?:svc|curl) /m.test(text))) {
    it(`${block.page}:${block.line}: runs unchanged against a real gateway`, async () => {
      using folder = new ProjectFolder();
      const provider = await startSimulatedProvider({ workspace: join(ROOT, 'scripts', 'sample-workspace'), pace: 0 });
      const options = { baseURL: provider.url, fimURL: `${provider.url}/fim`, simulated: true };
      const models = { 'mistral-small-latest': { id: 'simulated-chat', edit: 'chat-patch' } };
      folder.global({
        provider: { mistral: { fim: 'mistral', options, models } },
        model: 'mistral/mistral-small-latest',
      });
      folder.write('project/src/app.ts', 'export const a = 1;\n'.repeat(20));
      try {
        await runBlock(folder, commands(block));
      } finally {
        await provider.close();
      }
    });
  }

  it('snippets: systemd units and containers start existing programs with existing options', () => {
    const { text: unit = '' } = all.find(({ language }) => language === 'ini') ?? {};
    const [, args = ''] = /^ExecStart=\/usr\/bin\/svc (.+)$/m.exec(unit) ?? [];
    const serves = COMMANDS.find(({ name }) => name === 'serve');
    const flags = (text: string) => [...text.matchAll(/--([\w-]+)/g)].map(([, flag]) => flag);
    assert.match(args, /^serve\b/);
    for (const flag of flags(args)) assert.ok(flag !== undefined && flag in (serves?.options ?? {}), flag);
    const container = readFileSync(join(ROOT, 'deploy', 'Dockerfile'), 'utf8');
    const [, command = '[]'] = /^CMD (.+)$/m.exec(container) ?? [];
    const [name, ...words]: string[] = JSON.parse(command);
    assert.equal(name, 'serve');
    for (const flag of flags(words.join(' '))) assert.ok(flag !== undefined && flag in (serves?.options ?? {}), flag);
    const [, entry = '[]'] = /^ENTRYPOINT (.+)$/m.exec(container) ?? [];
    const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    assert.equal(`./${JSON.parse(entry)[1]}`, bin.svc);
  });

  it('snippets: commands of README use existing scripts', () => {
    for (const file of ['scripts/start.ts', 'test/run.ts']) assert.ok(existsSync(join(ROOT, file)));
  });
});

async function runBlock(folder: ProjectFolder, lines: readonly string[]): Promise<void> {
  let key = '';
  let gateway: { readonly url: string; readonly stop: () => Promise<unknown> } | undefined;
  try {
    for (const line of lines) {
      if (line.startsWith('svc serve')) gateway = await serve(folder);
      else if (line.startsWith('curl')) {
        assert.ok(gateway, line);
        const here = line.replace('http://127.0.0.1:4180', gateway.url).replace('curl', 'curl -sS');
        const env = { PATH: process.env.PATH, KEY: key };
        const { stdout } = await promisify(execFile)('sh', ['-c', here], { env });
        assert.match(JSON.parse(stdout).choices[0].message.content, /Simulated/, line);
      } else if (line.startsWith('svc ')) {
        const { code, out, err } = await inShell(folder, line);
        assert.equal(code, 0, `${line}\n${err}`);
        if (line.startsWith('svc keys create')) key = out.trimEnd().split('\n').at(-1) ?? '';
      }
    }
  } finally {
    await gateway?.stop();
  }
}

/** A line as a shell would run it, `< file` and quotes included. */
async function inShell(folder: ProjectFolder, line: string) {
  const [, call = '', file] = /^svc (.*?)(?:\s+<\s*(\S+))?$/.exec(line) ?? [];
  const args = [...call.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const input = file === undefined ? '' : readFileSync(join(folder.project, file), 'utf8');
  return input === '' && args[0] !== 'chat' ? svcProcess(folder, args) : svc(folder, args, undefined, input);
}

async function serve(folder: ProjectFolder): Promise<{ readonly url: string; readonly stop: () => Promise<unknown> }> {
  const stop = new AbortController();
  const listening = Promise.withResolvers<string>();
  const running = main(['serve', '--port', '0'], {
    out: async (text) => {
      const [, url] = /listening on (http\S+)/.exec(text) ?? [];
      if (url !== undefined) listening.resolve(url);
    },
    err: async () => undefined,
    input: process.stdin,
    env: folder.env,
    platform: 'linux',
    home: folder.home,
    cwd: folder.project,
    signal: stop.signal,
  });
  void running.then((code) => listening.reject(new Error(`svc serve ended with ${code}.`)));
  const url = await listening.promise;
  return {
    url,
    stop: () => {
      stop.abort();
      return running;
    },
  };
}
