import assert from 'node:assert/strict';
import type { CompletionModel } from '../../src/completion/document/completion-settings.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import type { Event } from '../../src/wire/event.ts';
import { EditorHarness, MODEL } from './editor-harness.ts';

const SECOND: CompletionModel = { ref: 'spare/fim', contextTokens: 8_192, contextPlace: 'context-and-path' };
const FIRST: CompletionModel = { ...MODEL, fallback: SECOND };
const OVERLOADED = new SvcError({ errorType: 'temporarily_unavailable', message: 'No.', retryable: true });
const NO_KEY = new SvcError({ errorType: 'authentication_required', message: 'No.' });

/** An editor whose models answer by reference, or fail. */
function open(answers: Record<string, string | SvcError>, model: (languageId: string) => CompletionModel) {
  const asked: string[] = [];
  const editor: EditorHarness = new EditorHarness('const x = |\n', {
    model,
    fill: ({ ref }) =>
      async function* (): AsyncGenerator<Event> {
        asked.push(ref);
        await editor.clock.sleep(100);
        const answer = answers[ref] ?? '';
        if (answer instanceof SvcError) yield { type: 'error', error: answer };
        else {
          yield { type: 'text', part: 0, text: answer };
          yield { type: 'finish', reason: 'stop' };
        }
      },
  });
  editor.suggester.documentShown(editor.file.document);
  editor.suggester.onDidReopen(() => editor.requestSuggestion());
  return { editor, asked, answers };
}

describe('fallback model', () => {
  for (const [kind, error] of [
    ['that may pass', OVERLOADED],
    ['that only the user can solve', NO_KEY],
  ] as const) {
    it(`fallback model: after a failure ${kind}, the other model answers without a key`, async () => {
      const { editor, asked } = open({ 'oracle/fim': error, 'spare/fim': '1;' }, () => FIRST);
      editor.requestSuggestion();
      await editor.clock.pass(1_000);
      assert.equal(editor.ghost, '1;');
      assert.deepEqual(asked, ['oracle/fim', 'spare/fim']);
      assert.equal(editor.suggester.state.kind, 'ready');
      assert.equal(editor.suggester.usedModel, 'spare/fim');
      assert.equal(editor.suggester.lastRequest?.model, 'spare/fim');
      assert.deepEqual(editor.suggester.lastRequest?.fimRequest.path, 'a.ts');
    });
  }

  it('fallback model: the first model is tried again after its pause and then used', async () => {
    const { editor, asked, answers } = open({ 'oracle/fim': OVERLOADED, 'spare/fim': '1;' }, () => FIRST);
    editor.requestSuggestion();
    await editor.clock.pass(3_000);
    answers['oracle/fim'] = '2;';
    editor.edit('y = ');
    await editor.clock.pass(1_000);
    assert.deepEqual(asked, ['oracle/fim', 'spare/fim', 'oracle/fim']);
    assert.equal(editor.ghost, '2;');
    assert.equal(editor.suggester.usedModel, 'oracle/fim');
  });

  it('fallback model: if both fail, the problem is shown and the requests pause', async () => {
    const { editor, asked } = open({ 'oracle/fim': NO_KEY, 'spare/fim': NO_KEY }, () => FIRST);
    editor.requestSuggestion();
    await editor.clock.pass(1_000);
    await editor.type('abc = ');
    assert.deepEqual(asked, ['oracle/fim', 'spare/fim']);
    assert.equal(editor.suggester.state.kind, 'problem');
  });

  it('fallback model: a suggestion on screen stays when its model begins to fail', async () => {
    const { editor, answers } = open({ 'oracle/fim': 'first + second;', 'spare/fim': '1;' }, () => FIRST);
    editor.requestSuggestion();
    await editor.clock.pass(1_000);
    answers['oracle/fim'] = OVERLOADED;
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(1_000);
    await editor.type('fir');
    assert.equal(editor.ghost, 'st + second;');
  });

  it('a model per language: requests, circuit and state are of the model of the language', async () => {
    const model = (languageId: string) => (languageId === 'python' ? SECOND : MODEL);
    const { editor, asked } = open({ 'oracle/fim': NO_KEY, 'spare/fim': '1' }, model);
    editor.requestSuggestion();
    await editor.clock.pass(1_000);
    assert.equal(editor.suggester.state.kind, 'problem');
    editor.file.uri = 'file:///work/a.py';
    editor.file.languageId = 'python';
    editor.suggester.documentShown(editor.file.document);
    editor.requestSuggestion();
    await editor.clock.pass(1_000);
    assert.equal(editor.ghost, '1');
    assert.deepEqual(asked, ['oracle/fim', 'spare/fim']);
    assert.equal(editor.suggester.state.kind, 'ready');
  });
});
