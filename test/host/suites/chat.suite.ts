import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { streamFrames } from '../../upstream/answers.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { waitUntil } from '../wait-until.ts';
import { startObservedUpstream } from './observed-upstream.ts';
import { askForCodeActions, codeActions, writeFile } from './until.ts';

/** A picture of one pixel: VS Code looks at pictures before it hands them on. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** The chat as other extensions and the editor use it. */
describe('models and commands in VS Code', () => {
  let upstream: Upstream;
  let config: vscode.Uri;

  before(async () => {
    upstream = await startObservedUpstream();
    const limit = { context: 30_000, output: 2000 };
    const modalities = { input: ['text', 'image'], output: ['text'] };
    const models = Object.fromEntries(
      ['text', 'tools', 'no-terminator', 'stall-mid-stream', 'status-401', 'status-429'].map((scenario) => [
        scenario,
        { id: `scenario:${scenario}`, tool_call: true, attachment: true, modalities, limit },
      ]),
    );
    const provider = { suite: { name: 'Suite', options: { baseURL: `${upstream.url}/v1` }, models } };
    config = await writeFile('svc.jsonc', JSON.stringify({ provider }));
  });
  after(async () => {
    await vscode.workspace.fs.delete(config);
    await upstream.close();
  });

  async function model(id: string): Promise<vscode.LanguageModelChat> {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        const heard = vscode.lm.onDidChangeChatModels(() => {
          heard.dispose();
          resolve();
        });
      });
      const [found] = await vscode.lm.selectChatModels({ vendor: 'svc', id: `suite/${id}` });
      if (found) return found;
      await changed;
    }
  }
  const none = () => new vscode.CancellationTokenSource().token;
  const hello = [vscode.LanguageModelChatMessage.User('Hello')];

  it('language models: are offered with their limits', async () => {
    const text = await model('text');
    assert.equal(text.name, 'text');
    assert.equal(text.maxInputTokens, 28_000);
    assert.ok((await text.countTokens('four words are here')) > 2);
  });

  it('language models: stream text to other extensions', async () => {
    const response = await (await model('text')).sendRequest(hello, {}, none());
    let text = '';
    for await (const piece of response.text) text += piece;
    assert.equal(text, 'Hello, wörld 👋.');
  });

  it('language models: send and receive tool calls, results and images', async () => {
    const tools = [{ name: 'weather', description: 'Weather', inputSchema: { type: 'object', properties: {} } }];
    // Newer than the version of the types.
    const DataPart: new (data: Uint8Array, type: string) => vscode.LanguageModelTextPart = Reflect.get(
      vscode,
      'LanguageModelDataPart',
    );
    const picture = new DataPart(PIXEL, 'image/png');
    const ask = [vscode.LanguageModelChatMessage.User([new vscode.LanguageModelTextPart('Weather?'), picture])];
    const response = await (await model('tools')).sendRequest(ask, { tools }, none());
    const calls: vscode.LanguageModelToolCallPart[] = [];
    for await (const part of response.stream) if (part instanceof vscode.LanguageModelToolCallPart) calls.push(part);
    assert.deepEqual(
      calls.map(({ name, input }) => [name, input]),
      [
        ['weather', { city: 'Oslo' }],
        ['clock', {}],
      ],
    );
    const sent = JSON.stringify(upstream.requests.at(-1)?.body);
    assert.match(sent, /data:image\/png;base64,iVBOR/);
    const results = calls.map(
      ({ callId }) => new vscode.LanguageModelToolResultPart(callId, [new vscode.LanguageModelTextPart('Rain')]),
    );
    const next = [
      ...ask,
      vscode.LanguageModelChatMessage.Assistant(calls),
      vscode.LanguageModelChatMessage.User(results),
    ];
    const second = await (await model('text')).sendRequest(next, { tools }, none());
    for await (const _ of second.text);
    const { messages } = upstream.requests.at(-1)?.body ?? {};
    assert.ok(Array.isArray(messages));
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'tool'],
    );
  });

  it('language models: a cancelled request closes the socket', async () => {
    const stop = new vscode.CancellationTokenSource();
    const response = await (await model('stall-mid-stream')).sendRequest(hello, {}, stop.token);
    const reading = (async () => {
      for await (const piece of response.text) if (piece !== '') stop.cancel();
    })();
    await reading.catch(() => undefined);
    assert.equal(await upstream.requests.at(-1)?.closed, true);
  });

  it('language models: an interrupted answer or tool call is an error', async () => {
    const ask = async (id: string) => {
      const tools = [{ name: 'weather', description: 'Weather', inputSchema: { type: 'object', properties: {} } }];
      const parts: unknown[] = [];
      const response = await (await model(id)).sendRequest(hello, { tools }, none());
      await assert.rejects(async () => {
        for await (const part of response.stream) parts.push(part);
      });
      return parts.filter((part) => part instanceof vscode.LanguageModelToolCallPart);
    };
    await ask('no-terminator');
    upstream.respond((_request, response) => {
      const call = { id: 'c1', name: 'weather', arguments: ['{"city":'] };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${streamFrames('chat', { tools: [call], finish: 'length' }).join('\n\n')}\n\n`);
    });
    try {
      assert.deepEqual(await ask('text'), []);
    } finally {
      upstream.respond(undefined);
    }
  });

  for (const [id, code] of [
    ['status-401', 'NoPermissions'],
    ['status-429', 'Blocked'],
  ] as const) {
    it(`language models: report the kind of a failure: ${code}`, async () => {
      const failed = async () => {
        const response = await (await model(id)).sendRequest(hello, {}, none());
        for await (const _ of response.text);
      };
      await assert.rejects(failed, { code });
    });
  }

  it('chat: a model gets the tools of VS Code and of Svc, except for disabled ones', async () => {
    await model('text');
    const settings = vscode.workspace.getConfiguration('svc.chat');
    await settings.update('model', 'suite/text', vscode.ConfigurationTarget.Global);
    const file = await writeFile('asked.txt', 'What is this?\n');
    await vscode.window.showTextDocument(file);
    const offered = async () => {
      const before = upstream.requests.length;
      await vscode.commands.executeCommand('svc.chat.explain');
      const tools = await waitUntil(
        'a request with tools',
        () => upstream.requests.slice(before).find(({ body }) => Array.isArray(body.tools))?.body.tools,
        Array.isArray,
      );
      assert.ok(Array.isArray(tools));
      return tools.map((tool) => String(tool?.function?.name));
    };
    const theirs = vscode.lm.tools.map(({ name }) => name);
    const all = await offered();
    const [other] = all.filter((name) => theirs.includes(name));
    assert.ok(all.includes('read_file') && other !== undefined, all.join());
    await settings.update('disabledTools', ['read_file', other], vscode.ConfigurationTarget.Global);
    assert.deepEqual(
      await offered(),
      all.filter((name) => name !== 'read_file' && name !== other),
    );
    await settings.update('disabledTools', undefined, vscode.ConfigurationTarget.Global);
    await settings.update('model', undefined, vscode.ConfigurationTarget.Global);
    await vscode.workspace.fs.delete(file);
  });

  it('code actions: the fix is offered for problems only, and is never the preferred one', async () => {
    const file = await writeFile('fixable.txt', 'const a: number = 1;\nconst b = 2;\n');
    await vscode.window.showTextDocument(file);
    const problems = vscode.languages.createDiagnosticCollection('suite');
    problems.set(file, [new vscode.Diagnostic(new vscode.Range(0, 0, 0, 5), 'Wrong.')]);
    const ours = ({ command }: vscode.CodeAction) => command?.command === 'svc.chat.fix';
    const offered = await codeActions(file, new vscode.Range(0, 0, 0, 5), ours);
    assert.deepEqual(
      offered.map(({ isPreferred }) => isPreferred ?? false),
      [false],
    );
    assert.deepEqual((await askForCodeActions(file, new vscode.Range(1, 0, 1, 5))).filter(ours), []);
    problems.dispose();
    await vscode.workspace.fs.delete(file);
  });
});
