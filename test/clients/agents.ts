import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TASK } from '../upstream/strict/scripted-model.ts';
import type { Workspace } from './fixtures.ts';
import { type ClientName, installClient } from './install.ts';
import { KEY, MODEL_NAMES, type Program } from './judged-run.ts';
import * as tools from './toolboxes.ts';

/** A coding agent in one configuration. */
export interface Agent {
  readonly title: string;
  readonly toolbox: tools.MakeToolbox;
  readonly model: string;
  /** The agent does not send the opaque part of reasoning back, so thinking can't go on with other formats. */
  readonly dropsReasoning?: boolean;
  /** Writes the agent's configuration and says which programs to run; the last one does the task. */
  readonly programs: (run: AgentRun) => readonly Program[];
}

export interface AgentRun {
  readonly url: string;
  /** The model's name at the gateway. */
  readonly model: string;
  readonly workspace: Workspace;
}

export const AGENTS: readonly Agent[] = [
  codex('a model that it knows (custom apply_patch, tool_search, web_search)', 'gpt-5.5', tools.codex),
  codex('a model with additional_tools and custom tools in namespaces', 'gpt-6.1-sol', tools.codexScripted),
  codex('a model that it does not know (namespaces, web_search)', 'm', tools.codexUnknown),
  {
    title: 'Codex with its own provider, which tries a WebSocket first',
    toolbox: tools.codex,
    model: 'gpt-5.5',
    programs: ({ url, model, workspace }) => [
      runCodex(workspace, [`model = "${model}"`, `openai_base_url = "${url}/v1"`], { CODEX_API_KEY: KEY }),
    ],
  },
  claudeCode('adaptive thinking', 'claude-opus-4-6'),
  claudeCode('a thinking budget', 'claude-sonnet-4-5'),
  claudeCode('thinking turned off', 'claude-sonnet-4-5', { MAX_THINKING_TOKENS: '0' }),
  claudeCode('a model that it does not know', 'm'),
  copilot('completions'),
  copilot('responses'),
  copilot('anthropic'),
  kimi('openai'),
  kimi('openai_responses'),
  kimi('anthropic'),
  openCode('opencode', 'openai-compatible'),
  openCode('opencode', 'openai'),
  openCode('opencode', 'anthropic'),
  openCode('kilo', 'openai-compatible'),
  {
    title: 'Qwen Code',
    toolbox: tools.qwenCode,
    model: 'm',
    programs: ({ url, model }) => [
      {
        file: process.execPath,
        args: [inClient('qwen-code', '@qwen-code', 'qwen-code', 'cli-entry.js'), '--yolo', TASK.prompt],
        env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: model },
      },
    ],
  },
  pi('openai-completions'),
  pi('openai-responses'),
  pi('anthropic-messages'),
  continueCli('openai'),
  continueCli('anthropic'),
  {
    title: 'Cline',
    toolbox: tools.cline,
    model: 'm',
    programs: ({ url, model }) => {
      const file = inClient('cline', '@cline', `cli-${process.platform}-${process.arch}`, 'bin', 'cline');
      return [
        { file, args: ['auth', 'openai', '-k', KEY, '-m', model, '-b', `${url}/v1`] },
        { file, args: [TASK.prompt] },
      ];
    },
  },
];

function inClient(client: ClientName, ...parts: string[]): string {
  return path.join(installClient(client), 'node_modules', ...parts);
}

/** The provider in config.toml: Codex manual, "Custom model providers". */
function codex(what: string, model: string, toolbox: tools.MakeToolbox): Agent {
  return {
    title: `Codex with ${what}`,
    toolbox,
    model,
    programs: ({ url, model: name, workspace }) => {
      const provider = ['name = "Svc"', `base_url = "${url}/v1"`, 'env_key = "SVC_KEY"', 'wire_api = "responses"'];
      const lines = [`model = "${name}"`, 'model_provider = "svc"', '[model_providers.svc]', ...provider];
      return [runCodex(workspace, lines, { SVC_KEY: KEY })];
    },
  };
}

function runCodex(workspace: Workspace, config: readonly string[], env: Readonly<Record<string, string>>): Program {
  write(path.join(workspace.home, '.codex', 'config.toml'), config.join('\n'));
  const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', TASK.prompt];
  return { file: inClient('codex', '.bin', 'codex'), args, env };
}

/** `copilot help providers`. */
function copilot(wire: 'completions' | 'responses' | 'anthropic'): Agent {
  const own = wire === 'anthropic';
  return {
    title: `Copilot CLI with ${wire}`,
    toolbox: tools.copilot,
    model: 'm',
    programs: ({ url, model }) => [
      {
        file: inClient('copilot', '.bin', 'copilot'),
        args: ['-p', TASK.prompt, '--allow-all-tools', '--no-auto-update'],
        env: {
          COPILOT_PROVIDER_TYPE: own ? 'anthropic' : 'openai',
          COPILOT_PROVIDER_BASE_URL: own ? url : `${url}/v1`,
          ...(own ? {} : { COPILOT_PROVIDER_WIRE_API: wire }),
          COPILOT_PROVIDER_API_KEY: KEY,
          COPILOT_MODEL: model,
        },
      },
    ],
  };
}

/** Kimi Code, `~/.kimi-code/config.toml`. */
function kimi(type: string): Agent {
  return {
    title: `Kimi Code with provider ${type}`,
    toolbox: tools.kimi,
    model: 'm',
    programs: ({ url, model, workspace }) => {
      const base = type === 'anthropic' ? url : `${url}/v1`;
      const provider = ['[providers.svc]', `type = "${type}"`, `base_url = "${base}"`, `api_key = "${KEY}"`];
      const served = ['[models.svc]', 'provider = "svc"', `model = "${model}"`, 'max_context_size = 128000'];
      const config = ['default_model = "svc"', ...provider, ...served].join('\n');
      write(path.join(workspace.home, '.kimi-code', 'config.toml'), config);
      return [{ file: inClient('kimi', '.bin', 'kimi'), args: ['-p', TASK.prompt] }];
    },
  };
}

/** The program is in a package for the platform; the main package has a link that an install script would set. */
function claudeCode(what: string, model: string, env: Readonly<Record<string, string>> = {}): Agent {
  const platform = `claude-code-${process.platform}-${process.arch}`;
  return {
    title: `Claude Code with ${what}`,
    toolbox: tools.claudeCode,
    model,
    programs: ({ url, model: name }) => [
      {
        file: inClient('claude-code', '@anthropic-ai', platform, 'claude'),
        args: ['-p', TASK.prompt, '--model', name, '--allowedTools', 'Bash,Read,Edit'],
        env: {
          ANTHROPIC_BASE_URL: url,
          ANTHROPIC_API_KEY: KEY,
          ANTHROPIC_SMALL_FAST_MODEL: name,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          ...env,
        },
      },
    ],
  };
}

/** opencode and Kilo have the same configuration file. */
function openCode(client: 'opencode' | 'kilo', api: string): Agent {
  const platform = `${process.platform}-${process.arch}`;
  return {
    title: `${client} with @ai-sdk/${api}`,
    toolbox: tools.opencode,
    model: 'm',
    programs: ({ url, model, workspace }) => {
      const options = { baseURL: `${url}/v1`, apiKey: KEY };
      const models = Object.fromEntries(MODEL_NAMES.map((name) => [name, {}]));
      const provider = { svc: { npm: `@ai-sdk/${api}`, name: 'Svc', options, models } };
      write(path.join(workspace.home, '.config', client, `${client}.json`), JSON.stringify({ provider }));
      if (client === 'opencode') {
        const file = inClient('opencode', `opencode-${platform}`, 'bin', 'opencode');
        return [{ file, args: ['run', '-m', `svc/${model}`, TASK.prompt] }];
      }
      const file = inClient('kilo', '@kilocode', `cli-${platform}`, 'bin', 'kilo');
      return [{ file, args: ['run', '--auto', '-m', `svc/${model}`, TASK.prompt] }];
    },
  };
}

function pi(api: string): Agent {
  return {
    title: `pi with ${api} and reasoning`,
    toolbox: tools.pi,
    model: 'm',
    // It keeps only `reasoning_details` that have the id of a call, as Gemini's have.
    dropsReasoning: api === 'openai-completions',
    programs: ({ url, model, workspace }) => {
      const baseUrl = api === 'anthropic-messages' ? url : `${url}/v1`;
      const svc = { baseUrl, api, apiKey: 'SVC_KEY', models: [{ id: model, reasoning: true }] };
      write(path.join(workspace.home, '.pi', 'agent', 'models.json'), JSON.stringify({ providers: { svc } }));
      const file = inClient('pi', '@mariozechner', 'pi-coding-agent', 'dist', 'cli.js');
      const args = [file, '-p', '--offline', '--provider', 'svc', '--model', model, TASK.prompt];
      return [{ file: process.execPath, args, env: { SVC_KEY: KEY } }];
    },
  };
}

function continueCli(provider: string): Agent {
  return {
    title: `Continue’s cn with provider ${provider}`,
    toolbox: tools.continueCli,
    model: 'm',
    programs: ({ url, model, workspace }) => {
      const config = path.join(workspace.home, 'config.yaml');
      const fields = { name: 'Svc', provider, model, apiKey: KEY, apiBase: `${url}/v1`, roles: ['chat'] };
      write(config, JSON.stringify({ name: 'Svc', version: '1.0.0', schema: 'v1', models: [fields] }));
      const file = inClient('continue', '@continuedev', 'cli', 'dist', 'cn.js');
      return [{ file: process.execPath, args: [file, '-p', '--auto', '--config', config, TASK.prompt] }];
    },
  };
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
