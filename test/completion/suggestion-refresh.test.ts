import assert from 'node:assert/strict';
import { aborted } from '../../src/base/concurrency.ts';
import { defined } from '../../src/base/json.ts';
import {
  type CompletionSettings,
  DEFAULT_COMPLETION_SETTINGS,
} from '../../src/completion/document/completion-settings.ts';
import type { NotSent } from '../../src/completion/trigger/trigger.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import { EditorHarness, MODEL } from './editor-harness.ts';

/** Like the extension: requests again if no suggestion was possible. */
function reopens(editor: EditorHarness): string[] {
  const reopened: string[] = [];
  editor.suggester.onDidReopen((uri) => {
    reopened.push(uri);
    editor.requestSuggestion();
  });
  return reopened;
}

describe('requests after a change of the conditions', () => {
  it('suggestion refresh: starts when a model becomes available', async () => {
    let model: typeof MODEL | undefined;
    const editor = new EditorHarness('x = |\n', { model: () => model });
    const reopened = reopens(editor);
    editor.answers = () => ['1;'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.suggester.state.kind, 'no-model');
    model = MODEL;
    editor.suggester.reconsider();
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, '1;');
    assert.equal(reopened.length, 1);
  });

  it('suggestion refresh: none while a chat uses the only slot of the server, and one when it ended', async () => {
    let slots = 0;
    const editor = new EditorHarness('x = |\n', { model: () => ({ ...MODEL, slots }) });
    reopens(editor);
    editor.answers = () => ['1;'];
    editor.requestSuggestion();
    await editor.clock.pass(60_000);
    assert.equal(editor.requests.length, 0);
    assert.deepEqual(editor.suggester.state, { kind: 'silent', why: 'chat-first' });
    slots = 1;
    editor.suggester.serverChanged();
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, '1;');
    // What is known is shown during the next chat.
    slots = 0;
    editor.suggester.serverChanged();
    editor.change('1');
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, ';');
    assert.equal(editor.requests.length, 1);
  });

  it('suggestion refresh: no key waits for the load of the model, the state tells it, and one is shown after it', async () => {
    let loading: true | undefined;
    const editor = new EditorHarness('x = |\n', { model: () => ({ ...MODEL, slots: 1, ...(loading && { loading }) }) });
    const reopened = reopens(editor);
    editor.firstTextMs = 5000;
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 1);
    // The request has begun the load.
    loading = true;
    editor.suggester.serverChanged();
    await editor.clock.pass(5000);
    assert.equal(editor.requests[0]?.stopped, true);
    assert.deepEqual(editor.suggester.state, { kind: 'silent', why: 'model-loads' });
    for (const key of 'abc') {
      editor.change(key);
      editor.requestSuggestion();
      await editor.clock.pass(1000);
    }
    assert.equal(editor.requests.length, 1);
    loading = undefined;
    editor.firstTextMs = 100;
    editor.answers = () => ['1;'];
    editor.suggester.serverChanged();
    await editor.clock.pass(1000);
    assert.equal(reopened.length, 1);
    assert.equal(editor.ghost, '1;');
  });

  it('suggestion refresh: a load that fails shows its error, and the pauses after failures grow', async () => {
    let loading: true | undefined;
    let sent = 0;
    const error = new SvcError({ errorType: 'temporarily_unavailable', message: 'No memory.', retryable: true });
    // Each second request begins a load, which fails at once, as on an Ollama that has no memory for the model.
    const load = async () => {
      await editor.clock.sleep(10);
      loading = true;
      editor.suggester.serverChanged();
      await editor.clock.sleep(10);
      loading = undefined;
      editor.suggester.serverChanged();
    };
    const editor = new EditorHarness('x = |\n', {
      model: () => ({ ...MODEL, slots: 1, ...(loading && { loading }) }),
      fill: () =>
        async function* (_, signal) {
          sent++;
          if (sent % 2 === 0) yield { type: 'error', error };
          else {
            void load();
            await aborted(signal);
          }
        },
    });
    reopens(editor);
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(sent, 2);
    assert.equal(editor.suggester.state.kind, 'problem');
    await editor.clock.pass(2000);
    assert.equal(sent, 4);
    assert.equal(editor.suggester.state.kind, 'problem');
    assert.ok((editor.suggester.retryInMs ?? 0) > 2000, String(editor.suggester.retryInMs));
  });

  for (const [slots, yielded] of [
    [1, [MODEL.ref]],
    [2, []],
    [undefined, []],
  ] as const) {
    it(`next edits leave a slot only to a completion that needs it, with ${slots ?? 'any number of'} slots`, async () => {
      const refs: string[] = [];
      const editor = new EditorHarness('x = |\n', {
        model: () => ({ ...MODEL, cost: { input: 0, output: 0 }, ...defined({ slots }) }),
        yieldSlot: (ref) => refs.push(ref),
      });
      editor.settings = { ...editor.settings, speculation: 'free' };
      editor.answers = ({ prefix }) => (prefix.endsWith('x = ') ? ['1;'] : ['\ny = 2;']);
      editor.suggester.documentShown(editor.file.document, editor.file.position);
      await editor.clock.pass(1000);
      assert.deepEqual(refs, [], 'what is computed in advance');
      editor.requestSuggestion();
      await editor.clock.pass(1000);
      assert.equal(editor.ghost, '1;');
      const asked = editor.requests.filter(({ fimRequest }) => fimRequest.maxTokens !== 1);
      assert.equal(asked.length, 2, 'one is requested in advance');
      assert.deepEqual(refs, yielded);
    });
  }

  it('suggestion refresh: a chat ends the request that has its slot; one by hand waits for the chat', async () => {
    let slots = 1;
    const editor = new EditorHarness('x = |\n', { model: () => ({ ...MODEL, slots }) });
    editor.firstTextMs = 60_000;
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.deepEqual(
      editor.requests.map(({ stopped }) => stopped),
      [false],
    );
    slots = 0;
    editor.suggester.serverChanged();
    assert.equal(editor.requests[0]?.stopped, true);
    await editor.clock.pass(60_000);
    editor.firstTextMs = 100;
    editor.answers = () => ['2;'];
    editor.firstTextMs = 2000;
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(1000);
    // The agent's next step.
    editor.suggester.serverChanged();
    await editor.clock.pass(2000);
    assert.equal(editor.ghost, '2;');
  });

  it('suggestion refresh: starts when the ignore files have been read', async () => {
    let excluded: NotSent | undefined = 'unknown-yet';
    const editor = new EditorHarness('x = |\n', { excluded: () => excluded });
    reopens(editor);
    editor.answers = () => ['1;'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 0);
    excluded = undefined;
    editor.suggester.reconsider();
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, '1;');
  });

  it('suggestion refresh: the reason for none stays true, also if the editor does not ask again', async () => {
    let excluded: NotSent | undefined = 'unknown-yet';
    const editor = new EditorHarness('x = |\n', { excluded: () => excluded });
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    excluded = 'gitignored';
    editor.suggester.reconsider();
    assert.deepEqual(editor.suggester.state, { kind: 'silent', why: 'gitignored' });
    editor.suggester.reconsider();
    assert.deepEqual(editor.suggester.state, { kind: 'silent', why: 'gitignored' });
    excluded = undefined;
    editor.suggester.reconsider();
    assert.deepEqual(editor.suggester.state, { kind: 'ready' });
  });

  it('suggestion refresh: starts when completions are enabled; until then the state is "off"', async () => {
    const editor = new EditorHarness('x = |\n');
    reopens(editor);
    editor.answers = () => ['1;'];
    editor.settings = { ...DEFAULT_COMPLETION_SETTINGS, enabled: false };
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.deepEqual(editor.suggester.state, { kind: 'silent', why: 'off' });
    assert.equal(editor.requests.length, 0);
    editor.settings = DEFAULT_COMPLETION_SETTINGS;
    editor.suggester.reconsider();
    await editor.clock.pass(1000);
    assert.equal(editor.suggester.state.kind, 'ready');
    assert.equal(editor.ghost, '1;');
  });

  it('suggestion refresh: the state of a document is not kept for the next document', () => {
    const editor = new EditorHarness('x = |\n', { excluded: () => 'gitignored' });
    editor.requestSuggestion();
    assert.deepEqual(editor.suggester.state, { kind: 'silent', why: 'gitignored' });
    // VS Code may report an editor after the first request in it.
    editor.suggester.documentShown(editor.file.document);
    assert.deepEqual(editor.suggester.state, { kind: 'silent', why: 'gitignored' });
    editor.suggester.documentShown({ ...editor.file.document, uri: 'file:///next.ts' });
    assert.deepEqual(editor.suggester.state, { kind: 'ready' });
  });

  it('suggestion refresh: an error of a request that was sent before the change counts no more', async () => {
    const editor = new EditorHarness('x = |\n');
    const reopened = reopens(editor);
    const refused = new SvcError({ status: 401, errorType: 'authentication_required', message: 'No.' });
    editor.answers = () => (editor.requests.length === 1 ? refused : ['1;']);
    editor.requestSuggestion();
    while (editor.requests.length === 0) await editor.clock.pass(1);
    editor.suggester.reconsider();
    await editor.clock.pass(1000);
    assert.deepEqual(editor.suggester.state, { kind: 'ready' });
    assert.equal(editor.ghost, '1;');
    assert.equal(reopened.length, 1);
    assert.equal(editor.requests.length, 2);
  });

  it('suggestion refresh: a model that is replaced before the request is sent is not asked', async () => {
    let model = MODEL;
    const editor = new EditorHarness('x = |\n', { model: () => model });
    reopens(editor);
    editor.answers = () => ['1;'];
    editor.requestSuggestion();
    model = { ...MODEL, ref: 'other/model' };
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, '1;');
    assert.equal(editor.requests.length, 1);
    assert.equal(editor.suggester.lastRequest?.model, 'other/model');
  });

  it('suggestion refresh: starts once after the user resolved an error', async () => {
    const editor = new EditorHarness('x = |\n');
    const reopened = reopens(editor);
    editor.answers = () => new SvcError({ status: 401, errorType: 'authentication_required', message: 'No.' });
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.suggester.state.kind, 'problem');
    editor.answers = () => ['1;'];
    editor.suggester.reconsider();
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, '1;');
    editor.suggester.reconsider();
    assert.equal(reopened.length, 1);
  });

  it('suggestion refresh: starts after the user resolved an error, also if a menu hid the editor before the request', async () => {
    const editor = new EditorHarness('x = |\n');
    const reopened = reopens(editor);
    editor.answers = () => new SvcError({ status: 402, errorType: 'insufficient_credits', message: 'No.' });
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.suggester.state.kind, 'problem');
    const menu = new AbortController();
    editor.change('y');
    const { document, position } = editor.file;
    void editor.suggester.suggest({ document, position, trigger: 'automatic' }, menu.signal);
    menu.abort();
    editor.answers = () => ['1;'];
    editor.suggester.reconsider();
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, '1;');
    assert.equal(reopened.length, 1);
  });

  it('suggestion refresh: does not start without an earlier request', () => {
    const editor = new EditorHarness('x = |\n');
    const reopened = reopens(editor);
    editor.suggester.reconsider();
    assert.deepEqual(reopened, []);
    assert.equal(editor.requests.length, 0);
  });
});

describe('requests of the editor after a suggestion grew', () => {
  it('grown suggestion: no request is sent if the caret has moved', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.requestSuggestion({ trigger: 'grown' });
    await editor.clock.pass(2000);
    assert.equal(editor.requests.length, 0);
    assert.equal(editor.ghost, undefined);
  });

  it('grown suggestion: the editor request also serves a key that was typed just before it', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.answers = ({ prefix }) => (prefix.endsWith('+ ') ? ['right();'] : ['wrong();']);
    editor.edit('1');
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, 'wrong();');
    // The editor has not requested a suggestion yet when the grown one triggers a request.
    editor.change(' + ');
    editor.requestSuggestion({ trigger: 'grown' });
    await editor.clock.pass(2000);
    assert.equal(editor.ghost, 'right();');
  });

  it('grown suggestion: waits for the active request of the previous key and sends no other', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.answers = () => ['right();'];
    editor.edit('1');
    await editor.clock.pass(50);
    assert.equal(editor.requests.length, 1);
    editor.requestSuggestion({ trigger: 'grown' });
    await editor.clock.pass(2000);
    assert.equal(editor.ghost, 'right();');
    assert.equal(editor.requests.length, 1);
  });

  it('grown suggestion: is not reported after the text has diverged', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.answers = ({ prefix }) => (prefix.endsWith('!') ? [] : ['a;\n', 'b;\n', 'c;']);
    editor.pieceMs = 30;
    editor.edit('1');
    await editor.clock.pass(150);
    assert.equal(editor.ghost, 'a;');
    editor.edit('!');
    await editor.clock.pass(1000);
    assert.deepEqual(editor.grown, []);
  });

  it('grown suggestion: is first reported after the editor had time to show the first line', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.answers = () => ['a;\n', 'b;\n', 'c;\n', 'd;'];
    editor.pieceMs = 10;
    editor.requestSuggestion();
    await editor.clock.pass(160);
    assert.deepEqual(editor.grown, []);
    await editor.clock.pass(100);
    assert.ok(editor.grown.length > 0 && editor.grown.length <= 2);
    assert.equal(editor.ghost, 'a;\nb;\nc;\nd;');
  });
});

describe('manual completions', () => {
  it('manual completions: the suggestion remains while it is typed, without another request', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.settings = { ...editor.settings, trigger: 'manual' };
    editor.answers = () => ['first();'];
    editor.edit('f');
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 0);
    editor.edit('', { deleted: 1 });
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, 'first();');
    await editor.type('fir');
    assert.equal(editor.ghost, 'st();');
    await editor.type('x');
    assert.equal(editor.ghost, undefined);
    assert.equal(editor.requests.length, 1);
  });
});

describe('cached context', () => {
  const off: readonly (readonly [name: string, change: Partial<CompletionSettings>, excluded?: NotSent])[] = [
    ['completions', { enabled: false }],
    ['their trigger', { trigger: 'manual' }],
    ['their language', { languages: { typescript: false } }],
    ['their file by a pattern', { disabledGlobs: ['a.ts'] }],
    ['their file by .gitignore', {}, 'gitignored'],
  ];
  for (const [name, change, exclusion] of off) {
    it(`request: is not sent if the user turns off ${name} while it waits`, async () => {
      let excluded: NotSent | undefined;
      const editor = new EditorHarness('x = |\n', { excluded: () => excluded });
      editor.settings = { ...editor.settings, debounceFloor: 400 };
      editor.edit('y');
      await editor.clock.pass(100);
      editor.settings = { ...editor.settings, ...change };
      excluded = exclusion;
      editor.suggester.reconsider();
      await editor.clock.pass(3000);
      assert.equal(editor.requests.length, 0);
    });
  }

  it('cached context: is not sent after its setting is disabled or its file is excluded', async () => {
    const snippets = ['tab.ts', 'other.ts'].map((path) => ({
      kind: 'open-tab' as const,
      path,
      line: 0,
      text: `of ${path}`,
    }));
    let excluded = '';
    const editor = new EditorHarness('a = |', {
      context: async (_, { openTabs }) => (openTabs ? snippets : []),
      excluded: (path) => (path === excluded ? 'gitignored' : undefined),
    });
    editor.answers = () => ['¤'];
    const sent = async () => {
      editor.edit('x + ');
      await editor.clock.pass(1000);
      return editor.requests.at(-1)?.fimRequest.prefix.match(/of \w+\.ts/g) ?? [];
    };
    assert.deepEqual(await sent(), ['of other.ts', 'of tab.ts']);
    excluded = 'other.ts';
    assert.deepEqual(await sent(), ['of tab.ts']);
    editor.settings = { ...editor.settings, context: { ...editor.settings.context, openTabs: false } };
    assert.deepEqual(await sent(), []);
    assert.equal(editor.requests.length, 3);
  });
});

describe('warm connection', () => {
  it('warm connection: is opened for an eligible document and after an idle time, not while it is warm', async () => {
    let warmed = 0;
    const editor = new EditorHarness('x = |\n', { warm: () => (warmed += 1) });
    editor.answers = () => ['1;'];
    editor.suggester.documentShown(editor.file.document);
    assert.equal(warmed, 1);
    editor.type('1');
    await editor.clock.pass(1_000);
    assert.equal(warmed, 1);
    await editor.clock.pass(40_000);
    editor.type('2');
    assert.equal(warmed, 2);
  });

  it('warm connection: is not opened if no request could be sent', async () => {
    let warmed = 0;
    let excluded: NotSent | undefined;
    let model: typeof MODEL | undefined = MODEL;
    const editor = new EditorHarness('x = |\n', {
      warm: () => (warmed += 1),
      excluded: () => excluded,
      model: () => model,
    });
    const show = () => editor.suggester.documentShown(editor.file.document);
    editor.settings = { ...DEFAULT_COMPLETION_SETTINGS, enabled: false };
    show();
    editor.settings = { ...DEFAULT_COMPLETION_SETTINGS, languages: { '*': false } };
    show();
    editor.settings = { ...DEFAULT_COMPLETION_SETTINGS, trigger: 'manual' };
    show();
    editor.settings = DEFAULT_COMPLETION_SETTINGS;
    excluded = 'secret-kind';
    show();
    excluded = undefined;
    model = undefined;
    show();
    assert.equal(warmed, 0);
    model = MODEL;
    show();
    assert.equal(warmed, 1);
  });

  it('suggestion refresh: a request that failed temporarily is sent again without a key, five times at most', async () => {
    const editor = new EditorHarness('x = |\n');
    reopens(editor);
    editor.answers = () => new SvcError({ errorType: 'temporarily_unavailable', message: 'Busy.', retryable: true });
    editor.requestSuggestion();
    await editor.clock.pass(1500);
    assert.equal(editor.requests.length, 1);
    assert.ok((editor.suggester.retryInMs ?? 0) > 0);
    await editor.clock.pass(10 * 60_000);
    assert.equal(editor.requests.length, 6);
    assert.equal(editor.suggester.retryInMs, undefined);
    editor.answers = () => ['1;'];
    await editor.clock.pass(10 * 60_000);
    assert.equal(editor.requests.length, 6);
    await editor.type('y');
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, '1;');
  });

  it('suggestion refresh: a request that the user must enable is not sent again', async () => {
    const editor = new EditorHarness('x = |\n');
    reopens(editor);
    editor.answers = () => new SvcError({ errorType: 'authentication_required', message: 'No key.' });
    editor.requestSuggestion();
    await editor.clock.pass(60 * 60_000);
    assert.equal(editor.requests.length, 1);
    assert.equal(editor.suggester.retryInMs, undefined);
  });
});
