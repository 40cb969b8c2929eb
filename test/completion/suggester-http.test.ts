import assert from 'node:assert/strict';
import { DEFAULT_COMPLETION_SETTINGS } from '../../src/completion/document/completion-settings.ts';
import type { Suggestion } from '../../src/completion/document/suggestion.ts';
import { Suggester } from '../../src/completion/suggester.ts';
import { completeCode } from '../../src/provider/complete-code.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import { Oracle } from '../bench/typist/oracle.ts';
import { type OracleServer, startOracle } from '../bench/typist/oracle-server.ts';
import { modelAt } from '../provider/test-model.ts';
import { EditorFile } from './editor-harness.ts';

const FILE = `/** Adds what the items of a cart cost. */
export function total(items) {
  let sum = 0;
  for (const item of items) sum += item.price;
  return sum;
}
`;

describe('Suggester over HTTP', () => {
  let server: OracleServer;
  let suggester: Suggester;
  const never = new AbortController().signal;

  beforeEach(async () => {
    const oracle = new Oracle([FILE], 0);
    server = await startOracle({ oracle, firstMs: 5, charactersASecond: 20_000 });
    const model = modelAt(server.url, { kind: 'mistral', fim: 'mistral', fimURL: `${server.url}/v1/fim` });
    const transport = fetchTransport(globalThis.fetch);
    suggester = new Suggester({
      fill: () => (fimRequest, signal) => completeCode(model, fimRequest, { transport, signal }),
      model: () => ({ ref: model.ref, contextTokens: 32_000, cost: { input: 0.3, output: 0.9 } }),
      settings: () => DEFAULT_COMPLETION_SETTINGS,
    });
  });

  afterEach(async () => {
    suggester.dispose();
    await server.close();
  });

  /** Requests a suggestion and waits until it no longer grows. */
  async function whole(file: EditorFile): Promise<readonly Suggestion[]> {
    const ask = (): ReturnType<Suggester['suggest']> =>
      suggester.suggest({ document: file.document, position: file.position, trigger: 'automatic' }, never);
    let items = await ask();
    while (items[0]?.growing === true) {
      await new Promise<void>((resolve) => {
        if (suggester.state.kind !== 'asking') return resolve();
        const subscription = suggester.onDidChangeState(() => {
          subscription.dispose();
          resolve();
        });
      });
      items = await ask();
    }
    return items;
  }

  it('Suggester over HTTP: shows the whole function and counts the cost that the server reports', async () => {
    const at = FILE.indexOf('export');
    const file = new EditorFile(`${FILE.slice(0, at)}|`);
    const [first] = await whole(file);
    assert.equal(first?.insertText, FILE.slice(at).trimEnd());
    assert.equal(server.seen.length, 1);
    assert.equal(suggester.counts.outputTokens, server.seen[0]?.tokens);
    assert.equal(suggester.counts.estimated, false);
    assert.equal(server.seen[0]?.body.max_tokens, 240);
  });

  it('Suggester over HTTP: reports missing credit once and sends no further request', async () => {
    server.options.refuse = { status: 402, body: { error: { message: 'No credits.', type: 'insufficient_credits' } } };
    const states: string[] = [];
    suggester.onDidChangeState((state) => states.push(state.kind));
    const file = new EditorFile(`${FILE.slice(0, 60)}|`);
    for (const character of 'tion total(items) { let sum = 0;') {
      file.before += character;
      await suggester.suggest({ document: file.document, position: file.position, trigger: 'automatic' }, never);
    }
    assert.equal(server.seen.length, 1);
    assert.deepEqual(states, ['asking', 'problem']);
    const { state } = suggester;
    assert.ok(state.kind === 'problem' && state.error.status === 402 && state.needsUser);
    delete server.options.refuse;
    suggester.reconsider();
    assert.notEqual((await whole(file)).length, 0);
  });
});
