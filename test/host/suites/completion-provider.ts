import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Upstream } from '../../upstream/upstream.ts';
import { waitUntil } from '../wait-until.ts';
import { startObservedUpstream } from './observed-upstream.ts';

/** A simulated model that can complete code, and the requests that it received. */
export interface CompletionProvider {
  readonly upstream: Upstream;
  /** The answer to all later requests, or to those with a prompt. */
  answer: string | ((prompt: string) => string);
  /** The bodies of the requests for a completion so far. */
  bodies(): readonly Record<string, unknown>[];
  prompts(): readonly string[];
  /** The `svc.jsonc` that makes it the one that completes. */
  config(): string;
}

export async function startCompletionProvider(): Promise<CompletionProvider> {
  const upstream = await startObservedUpstream((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const { answer } = self;
    const content = typeof answer === 'string' ? answer : answer(String(request.body.prompt));
    const choice = { index: 0, delta: { content }, finish_reason: 'stop' };
    response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
  });
  const bodies = () => upstream.requests.filter(({ path }) => path.includes('/fim/')).map(({ body }) => body);
  const self: CompletionProvider = {
    upstream,
    answer: 'answer();',
    bodies,
    prompts: () => bodies().map(({ prompt }) => String(prompt)),
    config: () => {
      const options = { baseURL: `${upstream.url}/v1`, fimURL: `${upstream.url}/v1/fim` };
      const models = { coder: { name: 'Coder', cost: { input: 1, output: 2 } } };
      const provider = { suite: { name: 'Suite', fim: 'mistral', options, models } };
      return JSON.stringify({ provider, completionModel: 'suite/coder' });
    },
  };
  return self;
}

/** Opens a document with the caret after its text. */
export async function edit(
  content: string,
  options: { language?: string; uri?: vscode.Uri } = {},
): Promise<vscode.TextEditor> {
  const { uri, language = 'typescript' } = options;
  const document = await (uri
    ? vscode.workspace.openTextDocument(uri)
    : vscode.workspace.openTextDocument({ content, language }));
  const editor = await vscode.window.showTextDocument(document);
  const end = document.lineAt(document.lineCount - 1).range.end;
  editor.selection = new vscode.Selection(end, end);
  return editor;
}

/** Requests suggestions in a new document until one arrives at the provider: until then VS Code reads its `svc.jsonc`. */
export async function untilAvailable(provider: CompletionProvider, uri: vscode.Uri): Promise<void> {
  await edit('', { uri });
  while (provider.prompts().length === 0) {
    await vscode.commands.executeCommand('svc.completion.trigger');
    // A command of an extension runs without a turn of the event loop.
    await setImmediate();
  }
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
}

/** Requests a suggestion manually, waits for the answer and accepts it. */
export async function take(): Promise<void> {
  await vscode.commands.executeCommand('svc.completion.trigger');
  await vscode.commands.executeCommand('editor.action.inlineSuggest.commit');
}

/** As `take`, until something was accepted: VS Code cancels a request when another extension registers a provider. */
export async function takeSome(document: vscode.TextDocument): Promise<void> {
  const { version } = document;
  await waitUntil('an accepted suggestion', take, () => document.version !== version);
}
