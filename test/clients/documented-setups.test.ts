import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TASK } from '../upstream/strict/scripted-model.ts';
import type { Workspace } from './fixtures.ts';
import { installClient } from './install.ts';
import { Judges, KEY, type Program, runProgram } from './judged-run.ts';
import * as tools from './toolboxes.ts';

const PAGE = readFileSync(path.join(import.meta.dirname, '..', '..', 'docs', 'gateway.md'), 'utf8');
const ADDRESS = 'http://127.0.0.1:4180';
const PLATFORM = `${process.platform}-${process.arch}`;

/** The variables in the row of a tool. */
function documentedVariables(tool: string, url: string): Record<string, string> {
  const row = PAGE.split('\n').find((line) => line.startsWith(`| ${tool} |`)) ?? assert.fail(`no row for ${tool}`);
  const found = [...row.matchAll(/`([A-Z_]+)=([^`]+)`/g)].map(([, name = '', value = '']) => [name, value] as const);
  return Object.fromEntries(found.map(([name, value]) => [name, value.replace(ADDRESS, url).replace('$KEY', KEY)]));
}

/** The file in the section of a tool. */
function documentedFile(section: string, url: string): string {
  const start = PAGE.indexOf(`### ${section}\n`);
  assert.ok(start > 0, `no section ${section}`);
  const [, text] = /```\w+\n([\s\S]*?)```/.exec(PAGE.slice(start)) ?? assert.fail(`no file in ${section}`);
  return (text ?? '').replaceAll(ADDRESS, url);
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const inClient = (client: Parameters<typeof installClient>[0], ...parts: string[]) =>
  path.join(installClient(client), 'node_modules', ...parts);

interface Setup {
  readonly toolbox: tools.MakeToolbox;
  readonly program: (url: string, workspace: Workspace) => Program;
}

/** Each tool with what docs/gateway.md says, and nothing else. */
const SETUPS: Readonly<Record<string, Setup>> = {
  'Claude Code': {
    toolbox: tools.claudeCode,
    program: (url) => ({
      file: inClient('claude-code', '@anthropic-ai', `claude-code-${PLATFORM}`, 'claude'),
      args: ['-p', TASK.prompt, '--allowedTools', 'Bash,Read,Edit'],
      // A test sends nothing to the vendor.
      env: { ...documentedVariables('Claude Code', url), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    }),
  },
  Codex: {
    toolbox: tools.codexUnknown,
    program: (url, { home }) => {
      write(path.join(home, '.codex', 'config.toml'), documentedFile('Codex', url));
      const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', TASK.prompt];
      return { file: inClient('codex', '.bin', 'codex'), args, env: { SVC_KEY: KEY } };
    },
  },
  opencode: {
    toolbox: tools.opencode,
    program: (url, { home }) => {
      write(path.join(home, '.config', 'opencode', 'opencode.json'), documentedFile('opencode and Kilo', url));
      const file = inClient('opencode', `opencode-${PLATFORM}`, 'bin', 'opencode');
      return { file, args: ['run', TASK.prompt], env: { SVC_KEY: KEY } };
    },
  },
  Kilo: {
    toolbox: tools.opencode,
    program: (url, { home }) => {
      write(path.join(home, '.config', 'kilo', 'kilo.json'), documentedFile('opencode and Kilo', url));
      const file = inClient('kilo', '@kilocode', `cli-${PLATFORM}`, 'bin', 'kilo');
      return { file, args: ['run', '--auto', TASK.prompt], env: { SVC_KEY: KEY } };
    },
  },
};

/** Codex requests the list of models only if its key is from a command. */
const CODEX_KEY = 'auth = { command = "printenv", args = ["SVC_KEY"] }';

describe('tools that are set up as the documentation says', () => {
  let judges: Judges;
  before(async () => {
    const options = { apiKey: 'sk-provider' };
    judges = await Judges.start((url) => ({
      provider: {
        anthropic: { options: { ...options, baseURL: `${url}/v1` } },
        mistral: { options: { ...options, baseURL: `${url}/mistral/v1` } },
      },
    }));
  });
  after(() => judges.close());

  for (const [tool, { toolbox, program }] of Object.entries(SETUPS)) {
    it(`${tool}, set up as docs/gateway.md says, completes the task`, async () => {
      const workspace = judges.begin(toolbox);
      const output = await runProgram(program(judges.url, workspace), workspace);
      judges.assertDone(workspace, output);
      const failed = judges.recorder.requests.filter(({ status }) => status >= 400);
      const seen = failed.map(({ method, path: at, status }) => `${method} ${at} ${status}`);
      assert.deepEqual(seen, [], 'No request of the client fails.');
    });
  }

  it('Codex with its key from a command reads the list of models with their limits', async () => {
    const workspace = judges.begin(tools.codexUnknown);
    const { program } = SETUPS.Codex ?? assert.fail();
    const codex = program(judges.url, workspace);
    const file = path.join(workspace.home, '.codex', 'config.toml');
    assert.ok(PAGE.includes(CODEX_KEY), 'docs/gateway.md says how');
    write(file, readFileSync(file, 'utf8').replace('env_key = "SVC_KEY"', CODEX_KEY));
    judges.assertDone(workspace, await runProgram(codex, workspace));
    const text = readFileSync(path.join(workspace.home, '.codex', 'models_cache.json'), 'utf8');
    const { models } = JSON.parse(text) as { models: { slug: string; context_window?: number }[] };
    const listed = await (await fetch(`${judges.url}/v1/models`)).json();
    const limits = new Map(listed.data.map(({ id, context_length }: Record<string, unknown>) => [id, context_length]));
    assert.ok(models.some(({ slug }) => slug.startsWith('mistral/')));
    for (const { slug, context_window } of models) assert.equal(context_window ?? 0, limits.get(slug), slug);
  });
});
