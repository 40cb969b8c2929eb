import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  documentedCode,
  documentedFiles,
  documentedVariables,
  documents,
  sectionVariables,
} from '../docs/tool-pages.ts';
import { TASK } from '../upstream/strict/scripted-model.ts';
import type { Workspace } from './fixtures.ts';
import { installClient } from './install.ts';
import { Judges, KEY, type Program, runProgram } from './judged-run.ts';
import * as tools from './toolboxes.ts';

const PLATFORM = `${process.platform}-${process.arch}`;

const at = (url: string) => ({ url, key: KEY });

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const inClient = (client: Parameters<typeof installClient>[0], ...parts: string[]) =>
  path.join(installClient(client), 'node_modules', ...parts);

interface Setup {
  readonly toolbox: tools.MakeToolbox;
  /** The last program does the task. */
  readonly programs: (url: string, workspace: Workspace) => readonly Program[];
}

const claudeCode = (url: string, env: Readonly<Record<string, string>> = {}): Program => ({
  file: inClient('claude-code', '@anthropic-ai', `claude-code-${PLATFORM}`, 'claude'),
  args: ['-p', TASK.prompt, '--allowedTools', 'Bash,Read,Edit'],
  // A test sends nothing to the vendor.
  env: { ...documentedVariables('Claude Code', at(url)), ...env, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
});

function writeDocumented(section: string, url: string, ...place: readonly string[]): void {
  const [text = assert.fail(section)] = documentedFiles(section, at(url));
  write(path.join(...place), text);
}

/** Each tool with what docs/gateway.md says, and nothing else. */
const SETUPS: Readonly<Record<string, Setup>> = {
  'Claude Code': { toolbox: tools.claudeCode, programs: (url) => [claudeCode(url)] },
  'Claude Code with a model of the gateway': {
    toolbox: tools.claudeCode,
    programs: (url) => [claudeCode(url, sectionVariables('Claude Code'))],
  },
  Codex: {
    toolbox: tools.codexUnknown,
    programs: (url, { home }) => {
      writeDocumented('Codex', url, home, '.codex', 'config.toml');
      const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', TASK.prompt];
      return [{ file: inClient('codex', '.bin', 'codex'), args, env: { SVC_KEY: KEY } }];
    },
  },
  'Copilot CLI': {
    toolbox: tools.copilot,
    programs: (url) => {
      const args = ['-p', TASK.prompt, '--allow-all-tools', '--no-auto-update'];
      return [{ file: inClient('copilot', '.bin', 'copilot'), args, env: documentedVariables('Copilot CLI', at(url)) }];
    },
  },
  'Kimi Code': {
    toolbox: tools.kimi,
    programs: (url, { home }) => {
      writeDocumented('Kimi Code', url, home, '.kimi-code', 'config.toml');
      return [{ file: inClient('kimi', '.bin', 'kimi'), args: ['-p', TASK.prompt] }];
    },
  },
  opencode: {
    toolbox: tools.opencode,
    programs: (url, { home }) => {
      writeDocumented('opencode and Kilo', url, home, '.config', 'opencode', 'opencode.json');
      const file = inClient('opencode', `opencode-${PLATFORM}`, 'bin', 'opencode');
      return [{ file, args: ['run', TASK.prompt], env: { SVC_KEY: KEY } }];
    },
  },
  Kilo: {
    toolbox: tools.opencode,
    programs: (url, { home }) => {
      writeDocumented('opencode and Kilo', url, home, '.config', 'kilo', 'kilo.json');
      const file = inClient('kilo', '@kilocode', `cli-${PLATFORM}`, 'bin', 'kilo');
      return [{ file, args: ['run', '--auto', TASK.prompt], env: { SVC_KEY: KEY } }];
    },
  },
  Continue: {
    toolbox: tools.continueMultiEdit,
    programs: (url, { home }) => {
      writeDocumented('Continue', url, home, '.continue', 'config.yaml');
      const file = inClient('continue', '@continuedev', 'cli', 'dist', 'cn.js');
      return [{ file: process.execPath, args: [file, '-p', '--auto', TASK.prompt] }];
    },
  },
  Cline: {
    toolbox: tools.cline,
    programs: (url) => {
      const file = inClient('cline', '@cline', `cli-${PLATFORM}`, 'bin', 'cline');
      const [, ...args] = (documentedCode('Cline', at(url))[0] ?? '').split(' ');
      return [
        { file, args },
        { file, args: [TASK.prompt] },
      ];
    },
  },
};

/** Codex requests the list of models only if its key is from a command. */
const CODEX_KEY = 'auth = { command = "printenv", args = ["SVC_KEY"] }';

/** @returns the output of the last program. */
async function runAll(programs: readonly Program[], workspace: Workspace): Promise<string> {
  let output = '';
  for (const program of programs) output = await runProgram(program, workspace);
  return output;
}

/** The task is done, and no request of the client failed. */
function assertWorked(judges: Judges, workspace: Workspace, output: string): void {
  judges.assertDone(workspace, output);
  const failed = judges.recorder.requests.filter(({ status }) => status >= 400);
  const seen = failed.map(({ method, path: where, status }) => `${method} ${where} ${status}`);
  assert.deepEqual(seen, [], 'No request of the client fails.');
}

const options = { apiKey: 'sk-provider' };
const mistral = (url: string) => ({ mistral: { options: { ...options, baseURL: `${url}/mistral/v1` } } });

describe('tools that are set up as the documentation says', () => {
  let judges: Judges;
  before(async () => {
    judges = await Judges.start((url) => ({
      provider: { anthropic: { options: { ...options, baseURL: `${url}/v1` } }, ...mistral(url) },
    }));
  });
  after(() => judges.close());

  for (const [tool, { toolbox, programs }] of Object.entries(SETUPS)) {
    it(`${tool}, set up as docs/gateway.md says, completes the task`, async () => {
      const workspace = judges.begin(toolbox);
      assertWorked(judges, workspace, await runAll(programs(judges.url, workspace), workspace));
    });
  }

  it('Claude Code completes the task with the documented aliases and no provider of its own models', async () => {
    const aliased = await Judges.start((url) => {
      const [aliases = ''] = documentedFiles('Claude Code', at(url));
      return { provider: mistral(url), ...JSON.parse(`{${aliases}}`) };
    });
    try {
      const workspace = aliased.begin(tools.claudeCode);
      assertWorked(aliased, workspace, await runProgram(claudeCode(aliased.url), workspace));
    } finally {
      await aliased.close();
    }
  });

  it('Codex with its key from a command reads the list of models with their limits', async () => {
    const workspace = judges.begin(tools.codexUnknown);
    const { programs } = SETUPS.Codex ?? assert.fail();
    const codex = programs(judges.url, workspace);
    const file = path.join(workspace.home, '.codex', 'config.toml');
    assert.ok(documents('Codex', CODEX_KEY), 'docs/gateway.md says how');
    write(file, readFileSync(file, 'utf8').replace('env_key = "SVC_KEY"', CODEX_KEY));
    judges.assertDone(workspace, await runAll(codex, workspace));
    const text = readFileSync(path.join(workspace.home, '.codex', 'models_cache.json'), 'utf8');
    const { models } = JSON.parse(text) as { models: { slug: string; context_window?: number }[] };
    const listed = await (await fetch(`${judges.url}/v1/models`)).json();
    const limits = new Map(listed.data.map(({ id, context_length }: Record<string, unknown>) => [id, context_length]));
    assert.ok(models.some(({ slug }) => slug.startsWith('mistral/')));
    for (const { slug, context_window } of models) assert.equal(context_window ?? 0, limits.get(slug), slug);
  });
});
