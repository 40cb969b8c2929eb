import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TASK } from '../upstream/strict/scripted-model.ts';
import { PAUSE, VENDOR_OUTPUT } from '../upstream/strict/strict-provider.ts';
import type { Workspace } from './fixtures.ts';
import { installClient } from './install.ts';
import { Judges, KEY, type Program, runProgram } from './judged-run.ts';
import * as tools from './toolboxes.ts';

/** Vendors by their provider id, with a model of the catalog. */
const MODELS: Readonly<Record<string, string>> = {
  anthropic: 'claude-sonnet-4-6',
  openai: 'gpt-5',
  google: 'gemini-3.1-pro-preview',
  deepseek: 'deepseek-v4-pro',
  moonshotai: 'kimi-k3',
  zai: 'glm-5',
  mistral: 'mistral-large-latest',
  xai: 'grok-4.6',
  groq: 'openai/gpt-oss-120b',
};
/** Vendors whose id in the strict providers differs. */
const FOLDERS: Readonly<Record<string, string>> = { openai: 'responses' };
const NPM: Readonly<Record<string, string>> = {
  google: '@ai-sdk/openai-compatible',
  groq: '@ai-sdk/openai-compatible',
};

function config(url: string): unknown {
  const providers = Object.entries(MODELS).map(([id, model]) => {
    const baseURL = `${url}/vendors/${FOLDERS[id] ?? id}/v1`;
    const limits = { limit: { context: 200_000, output: VENDOR_OUTPUT } };
    const npm = NPM[id];
    return [id, { ...(npm && { npm }), options: { baseURL, apiKey: 'sk-provider' }, models: { [model]: limits } }];
  });
  const name = (id: string): string => `${id}/${MODELS[id]}`;
  return {
    provider: Object.fromEntries(providers),
    // Names that no client knows: clients give models that they know other tools.
    gateway: {
      aliases: Object.fromEntries(Object.keys(MODELS).map((id) => [`my-${id}`, name(id)])),
      fallback: {
        [name('anthropic')]: [name('google')],
        [name('openai')]: [name('anthropic')],
        [name('deepseek')]: [name('openai')],
      },
    },
  };
}

interface Agent {
  readonly toolbox: tools.MakeToolbox;
  /** Writes the configuration. */
  readonly setUp?: (url: string, workspace: Workspace) => void;
  /** Begins a conversation, or goes on with the last one. */
  readonly program: (run: {
    readonly url: string;
    readonly model: string;
    readonly prompt: string;
    readonly goesOn: boolean;
  }) => Program;
}

const inClient = (client: Parameters<typeof installClient>[0], ...parts: string[]): string =>
  path.join(installClient(client), 'node_modules', ...parts);

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const PLATFORM = `${process.platform}-${process.arch}`;

const AGENTS: Readonly<Record<string, Agent>> = {
  'Claude Code': {
    toolbox: tools.claudeCode,
    program: ({ url, model, prompt, goesOn }) => ({
      file: inClient('claude-code', '@anthropic-ai', `claude-code-${PLATFORM}`, 'claude'),
      args: ['-p', prompt, ...(goesOn ? ['--continue'] : []), '--model', model, '--allowedTools', 'Bash,Read,Edit'],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: KEY,
        ANTHROPIC_SMALL_FAST_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    }),
  },
  Codex: {
    toolbox: tools.codexUnknown,
    setUp: (url, { home }) => {
      const provider = ['name = "Svc"', `base_url = "${url}/v1"`, 'env_key = "SVC_KEY"', 'wire_api = "responses"'];
      const lines = ['model_provider = "svc"', '[model_providers.svc]', ...provider];
      write(path.join(home, '.codex', 'config.toml'), lines.join('\n'));
    },
    program: ({ model, prompt, goesOn }) => {
      const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--model', model];
      const args = goesOn ? ['exec', 'resume', '--last', ...flags, prompt] : ['exec', ...flags, prompt];
      return { file: inClient('codex', '.bin', 'codex'), args, env: { SVC_KEY: KEY } };
    },
  },
  opencode: {
    toolbox: tools.opencode,
    setUp: (url, { home }) => {
      const models = Object.fromEntries(Object.keys(MODELS).map((id) => [`my-${id}`, { reasoning: true }]));
      const options = { baseURL: `${url}/v1`, apiKey: KEY };
      const provider = { svc: { npm: '@ai-sdk/openai-compatible', name: 'Svc', options, models } };
      write(path.join(home, '.config', 'opencode', 'opencode.json'), JSON.stringify({ provider }));
    },
    program: ({ model, prompt, goesOn }) => ({
      file: inClient('opencode', `opencode-${PLATFORM}`, 'bin', 'opencode'),
      args: ['run', ...(goesOn ? ['--continue'] : []), '-m', `svc/${model}`, prompt],
    }),
  },
};

/** Vendors of the three parts of the task: read, edit, check. Each vendor takes over from another one. */
const ROUTES: readonly (readonly string[])[] = [
  ['anthropic', 'openai', 'google'],
  ['google', 'anthropic', 'deepseek'],
  ['openai', 'deepseek', 'anthropic'],
  ['deepseek', 'moonshotai', 'openai'],
  ['mistral', 'google', 'zai'],
  ['zai', 'groq', 'mistral'],
  ['xai', 'anthropic', 'anthropic'],
];

describe('agents whose conversation changes the vendor', () => {
  let judges: Judges;
  before(async () => {
    judges = await Judges.start(config);
  });
  after(() => judges.close());

  const vendorsOf = (): string[] =>
    judges.provider.requests.filter(({ model }) => model.tools.length > 0).map(({ vendor }) => vendor);

  for (const [name, { toolbox, setUp, program }] of Object.entries(AGENTS)) {
    for (const route of ROUTES) {
      it(`${name} goes on with its conversation from ${route.join(' to ')}`, async () => {
        const workspace = judges.begin(toolbox, { pauses: [1, 2] });
        setUp?.(judges.url, workspace);
        let output = '';
        for (const [index, id] of route.entries()) {
          const prompt = index === 0 ? TASK.prompt : 'Go on with the task.';
          const run = { url: judges.url, model: `my-${id}`, prompt, goesOn: index > 0 };
          output = await runProgram(program(run), workspace);
          if (index < 2) assert.ok(output.includes(PAUSE), `${output}\n${judges.provider.refusals.join('\n')}`);
        }
        judges.assertDone(workspace, output);
        const folders = route.map((id) => FOLDERS[id] ?? id);
        assert.deepEqual(new Set(vendorsOf()), new Set(folders));
        assert.equal(vendorsOf().at(-1), folders.at(-1));
      });
    }

    for (const first of ['anthropic', 'openai', 'deepseek']) {
      it(`${name} completes its task if ${first} is overloaded in the middle and another vendor takes over`, async () => {
        const folder = FOLDERS[first] ?? first;
        const workspace = judges.begin(toolbox, { overloaded: (vendor, step) => vendor === folder && step === 1 });
        setUp?.(judges.url, workspace);
        const run = { url: judges.url, model: `my-${first}`, prompt: TASK.prompt, goesOn: false };
        judges.assertDone(workspace, await runProgram(program(run), workspace));
        assert.equal(new Set(vendorsOf()).size, 2, vendorsOf().join());
      });
    }
  }
});
