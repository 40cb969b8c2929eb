import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { ReceivedRequest, Upstream } from '../../upstream/upstream.ts';
import { edit } from './completion-provider.ts';
import { startObservedUpstream } from './observed-upstream.ts';
import { until, writeFile } from './until.ts';

const run = vscode.commands.executeCommand;

const CODE = 'function load(id: string) {\n  return find(id);\n}\n\nconst first = load(name);\n';

/** The window that the model may rewrite, in the prompt of Sweep 1. */
function currentWindow(prompt: string): string {
  const start = prompt.lastIndexOf('<|file_sep|>current/');
  return prompt.slice(prompt.indexOf('\n', start) + 1, prompt.lastIndexOf('<|file_sep|>updated/'));
}

/** A command of an extension runs without a turn of the event loop, so that nothing else happens if it is repeated. */
async function runAndYield(command: string): Promise<void> {
  await run(command);
  await setImmediate();
}

const promptOf = ({ body }: ReceivedRequest) => String(body.prompt);

describe('next edits of a model in VS Code', () => {
  let upstream: Upstream;
  let config: vscode.Uri;

  before(async () => {
    upstream = await startObservedUpstream(({ method, body }, response) => {
      if (method !== 'POST') {
        response.writeHead(404).end();
        return;
      }
      const code = currentWindow(String(body.prompt));
      const text = code.includes('all: boolean') ? code.replace('load(name)', 'load(name, true)') : code;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const choice = { index: 0, text, finish_reason: 'stop' };
      response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
    });
    const models = { 'sweep-next-edit-1.5b': { name: 'Sweep' } };
    const provider = { local: { name: 'Local', options: { baseURL: `${upstream.url}/v1` }, models } };
    config = await writeFile('svc.jsonc', JSON.stringify({ provider }));
  });
  after(async () => {
    await run('workbench.action.revertAndCloseActiveEditor');
    await run('workbench.action.closeAllEditors');
    await vscode.workspace.fs.delete(config);
    await upstream.close();
  });

  it('next edits: the model gets the change as a diff, and the key accepts what it changed, with the line ends of the file', async () => {
    const uri = await writeFile('load.ts', CODE.replaceAll('\n', '\r\n'));
    const editor = await edit('', { uri });
    const { document } = editor;
    const caret = new vscode.Position(0, 'function load(id: string'.length);
    editor.selection = new vscode.Selection(caret, caret);
    // Until VS Code has read its svc.jsonc, there is no model.
    while (!upstream.requests.some(({ method }) => method === 'POST')) await runAndYield('svc.nextEdit.find');
    let asked = upstream.requests.length;
    await run('type', { text: ', all: boolean' });
    // The move of the caret may have caused one too.
    while (!promptOf(await upstream.request(asked)).includes('all: boolean')) asked += 1;
    const { body, path } = await upstream.request(asked);
    assert.equal(path, '/v1/completions');
    assert.match(String(body.prompt), /<\|file_sep\|>load\.ts\.diff\noriginal:\nfunction load\(id: string\) \{\n/);
    assert.match(String(body.prompt), /updated:\nfunction load\(id: string, all: boolean\) \{\n/);
    const expected = CODE.replace('string)', 'string, all: boolean)').replace('load(name)', 'load(name, true)');
    while (document.getText() !== expected.replaceAll('\n', '\r\n')) await runAndYield('svc.nextEdit.go');
    await run('undo');
    assert.match(document.getText(), /load\(name\);/, 'one undo step');
  });

  it('next edits: “Show Last Completion Request” shows the request of the last edit', async () => {
    await run('svc.completion.showLastRequest');
    // VS Code keeps a document that was shown a short time ago, and asks for its new text.
    const document = vscode.window.activeTextEditor?.document;
    await until(vscode.workspace.onDidChangeTextDocument, () =>
      /Model for next edits: local\/sweep-next-edit-1\.5b \(sweep-1\)\n/.test(document?.getText() ?? ''),
    );
    assert.ok(document?.getText().includes('<|file_sep|>updated/load.ts'));
  });
});
