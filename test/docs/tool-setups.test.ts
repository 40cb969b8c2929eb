import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import { svc } from '../cli/run-svc.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { KEY, startTestGateway, type TestGateway } from '../gateway/gateway-under-test.ts';
import { ROOT } from './pages.ts';
import {
  DOCUMENTED_TOOLS,
  documentedCode,
  documentedFiles,
  documentedRow,
  documentedVariables,
  type Place,
} from './tool-pages.ts';

const model = { tool_call: true, limit: { context: 262_144, output: 8_192 } };
const MODEL = 'mistral/mistral-large-latest';
const TEXT = 'Hello, wörld 👋.';
/** Tools whose programs run with their documented setup in test/clients/documented-setups.test.ts. */
const RUN_AS_PROGRAMS = ['Claude Code', 'Codex', 'Copilot CLI', 'Kimi Code', 'opencode, Kilo', 'Continue', 'Cline'];

/** A request as a tool sends it with its documented setup. */
interface ToolRequest {
  readonly base: unknown;
  readonly model: unknown;
  readonly key: unknown;
  /** The file with a recorded request, or the path and body of one. */
  readonly sends: string | { readonly path: string; readonly body: JsonObject };
}

/** Members by a path of names; `*` is the only one. */
function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce((object: unknown, name) => {
    const fields = objectOrEmpty(object);
    return name === '*' ? Object.values(fields)[0] : fields[name];
  }, value);
}

/** Codex's file has only names with texts. */
function readToml(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name, value]) => [name, value]));
}

const REQUESTS: Readonly<Record<string, (place: Place) => ToolRequest>> = {
  Codex: (place) => {
    const [text = ''] = documentedFiles('Codex', place);
    const { base_url, model, env_key, wire_api } = readToml(text);
    assert.deepEqual([env_key, wire_api], ['SVC_KEY', 'responses']);
    const sends = 'codex-with-a-model-that-it-does-not-know-namespaces-web-search';
    return { base: base_url, model, key: place.key, sends };
  },
  'opencode, Kilo': (place) => {
    const [text = ''] = documentedFiles('opencode and Kilo', place);
    const file: unknown = JSON.parse(text);
    const svc = at(file, 'provider', 'svc');
    assert.equal(at(svc, 'options', 'apiKey'), '{env:SVC_KEY}');
    assert.equal(`svc/${Object.keys(objectOrEmpty(at(svc, 'models')))[0]}`, at(file, 'model'));
    const model = Object.keys(objectOrEmpty(at(svc, 'models')))[0];
    return {
      base: at(svc, 'options', 'baseURL'),
      model,
      key: place.key,
      sends: 'opencode-with-ai-sdk-openai-compatible',
    };
  },
  Continue: (place) => {
    const [text = ''] = documentedFiles('Continue', place);
    const { apiBase, apiKey, model } = objectOrEmpty(arrayOrEmpty(at(load(text), 'models'))[0]);
    return { base: apiBase, model, key: apiKey, sends: 'continue-s-cn-with-provider-openai' };
  },
  Cline: (place) => {
    const [, key, model, base] =
      /auth openai -k (\S+) -m (\S+) -b (\S+)$/.exec(documentedCode('Cline', place)[0] ?? '') ?? [];
    return { base, model, key, sends: 'cline' };
  },
  // Zed, crates/open_ai: the request of its agent for an OpenAI-compatible provider.
  Zed: (place) => {
    const [text = ''] = documentedFiles('Zed', place);
    const svc = at(JSON.parse(text), 'language_models', 'openai_compatible', 'Svc');
    const { name } = objectOrEmpty(arrayOrEmpty(at(svc, 'available_models'))[0]);
    const body = {
      messages: [
        { role: 'system', content: 'You are a skilled software engineer.' },
        { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      ],
      stream: true,
      stream_options: { include_usage: true },
      stop: [],
      temperature: 1,
      tools: [
        {
          type: 'function',
          function: { name: 'read_file', description: 'd', parameters: { type: 'object', properties: {} } },
        },
      ],
    };
    return { base: at(svc, 'api_url'), model: name, key: place.key, sends: { path: '/chat/completions', body } };
  },
  // gabrii/Cursor-Azure-GPT-5#69: the body of Responses at the address of Chat Completions. Its servers need a public address.
  Cursor: (place) => {
    const [model, address = ''] = documentedCode('Cursor', place);
    const body = {
      input: [
        { role: 'system', content: 'You are a coding assistant.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
      ],
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      tools: [{ type: 'function', name: 'read_file', parameters: { type: 'object', properties: {} } }],
    };
    const base = place.url + new URL(address).pathname;
    return { base, model, key: place.key, sends: { path: '/chat/completions', body } };
  },
  // aider/models.py and litellm's `openai/`: the prefix is removed, the rest is the name.
  aider: (place) => {
    const { OPENAI_API_BASE, OPENAI_API_KEY } = documentedVariables('aider', place);
    const [, model] = /^aider --model openai\/(\S+)$/.exec(documentedCode('aider', place).at(-1) ?? '') ?? [];
    const body = {
      messages: [
        { role: 'system', content: 'Act as an expert software developer.' },
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Ok.' },
        { role: 'user', content: 'Change the file.' },
      ],
      stream: true,
      temperature: 0,
      stream_options: { include_usage: true },
    };
    return { base: OPENAI_API_BASE, model, key: OPENAI_API_KEY, sends: { path: '/chat/completions', body } };
  },
};

/** The first request of a real client. */
function recorded(name: string): {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: JsonObject;
} {
  const file = path.join(ROOT, 'test', 'gateway', 'clients', 'requests', `${name}.json`);
  const [first] = JSON.parse(readFileSync(file, 'utf8'));
  return first;
}

const run = promisify(execFile);

/** Runs a script in a process that has only these variables. */
async function runScript(script: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
  });
  // The AI SDK warns before its answer.
  return stdout.trim().split('\n').at(-1) ?? '';
}

describe('tools with what docs/gateway.md says, and nothing else', () => {
  let gateway: TestGateway;
  let place: Place;

  before(async () => {
    const [aliases = ''] = documentedFiles('Claude Code', { url: '', key: '' });
    gateway = await startTestGateway({
      config: (url: string) => ({
        provider: {
          mistral: {
            npm: '@ai-sdk/mistral',
            options: { baseURL: `${url}/v1`, apiKey: 'sk' },
            models: { 'mistral-large-latest': model, 'mistral-small-latest': model },
          },
        },
        ...JSON.parse(`{${aliases}}`),
      }),
    });
    place = { url: gateway.url, key: KEY };
  });
  after(() => gateway.close());

  const scripts: Readonly<Record<string, readonly (readonly [script: string, env: Record<string, string>])[]>> = {
    'OpenAI SDKs, and most tools': [
      [
        `import OpenAI from 'openai';
        const messages = [{ role: 'user', content: 'Hello' }];
        const answer = await new OpenAI().chat.completions.create({ model: '${MODEL}', messages });
        console.log(answer.choices[0].message.content);`,
        {},
      ],
      [
        `import OpenAI from 'openai';
        console.log((await new OpenAI().responses.create({ model: '${MODEL}', input: 'Hello' })).output_text);`,
        {},
      ],
    ],
    'Anthropic SDKs': ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].map((name) => [
      `import Anthropic from '@anthropic-ai/sdk';
      const messages = [{ role: 'user', content: 'Hello' }];
      const answer = await new Anthropic().messages.create({ model: '${MODEL}', max_tokens: 100, messages });
      console.log(answer.content[0].text);`,
      { ONLY: name },
    ]),
  };

  for (const [tool, runs] of Object.entries(scripts)) {
    for (const [index, [script, { ONLY: only }]] of runs.entries()) {
      it(`${tool}: the documented variables are enough (${only ?? index})`, async () => {
        const { ANTHROPIC_API_KEY, ...rest } = documentedVariables(tool, place);
        assert.equal(only === undefined || documentedRow(tool, place).includes(only), true);
        const key: Record<string, string> = ANTHROPIC_API_KEY && only ? { [only]: ANTHROPIC_API_KEY } : {};
        assert.equal(await runScript(script, { ...rest, ...key }), TEXT);
      });
    }
  }

  it('AI SDK: each documented expression makes a provider that answers', async () => {
    const expressions = documentedCode('AI SDK', place);
    assert.equal(expressions.length, 2);
    for (const expression of expressions) {
      const script = `import { createOpenAI } from '@ai-sdk/openai';
        import { createAnthropic } from '@ai-sdk/anthropic';
        import { generateText } from 'ai';
        const apiKey = '${KEY}';
        const provider = ${expression};
        console.log((await generateText({ model: provider('${MODEL}'), prompt: 'Hello' })).text);`;
      assert.equal(await runScript(script, {}), TEXT, expression);
    }
  });

  it('another Svc: the documented options make a provider that answers in the terminal', async () => {
    using folder = new ProjectFolder();
    const [options = ''] = documentedCode('another Svc', place);
    folder.global(`{ "provider": { "team": { ${options} } } }`);
    folder.env.SVC_KEY = KEY;
    const { code, out, err } = await svc(folder, ['chat', '-m', `team/${MODEL}`, 'Hello']);
    assert.deepEqual([code, out.trim()], [0, TEXT], err);
  });

  it('Claude Code: the documented aliases serve each name that it asks for', async () => {
    const { ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY } = documentedVariables('Claude Code', place);
    const { path: where, headers, body } = recorded('claude-code-with-adaptive-thinking');
    for (const model of ['claude-opus-4-8', 'claude-haiku-4-5-20251001', 'claude-sonnet-5']) {
      const response = await fetch(`${ANTHROPIC_BASE_URL}/v1${where}`, {
        method: 'POST',
        headers: { ...headers, 'x-api-key': ANTHROPIC_API_KEY ?? '', 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, model }),
      });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assert.ok(text.includes('wörld'), text);
    }
  });

  for (const [tool, request] of Object.entries(REQUESTS)) {
    it(`${tool}: its request with the documented address, key and model is answered`, async () => {
      const { base, model, key, sends } = request(place);
      const { path: where, body } = typeof sends === 'string' ? recorded(sends) : sends;
      const response = await fetch(`${base}${where}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, model }),
      });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assert.ok(text.includes('wörld'), text);
    });
  }

  it('tools: each row of the table is run', () => {
    const here = [...Object.keys(scripts), ...Object.keys(REQUESTS), 'AI SDK', 'another Svc'];
    assert.deepEqual([...DOCUMENTED_TOOLS].sort(), [...new Set([...here, ...RUN_AS_PROGRAMS])].sort());
  });
});
