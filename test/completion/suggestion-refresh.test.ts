import assert from 'node:assert/strict';
import { DEFAULT_COMPLETION_SETTINGS } from '../../src/completion/document/completion-settings.ts';
import type { NotSent } from '../../src/completion/trigger/trigger.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import { MODEL, Person } from './editor-harness.ts';

/** As the face does it: the editor is asked again where nothing could be suggested. */
function reopens(person: Person): string[] {
  const reopened: string[] = [];
  person.suggester.onDidReopen((uri) => {
    reopened.push(uri);
    person.ask();
  });
  return reopened;
}

describe('where nothing could be suggested', () => {
  it('is asked again when a model is there at last', async () => {
    let model: typeof MODEL | undefined;
    const person = new Person('x = |\n', { model: () => model });
    const reopened = reopens(person);
    person.answers = () => ['1;'];
    person.ask();
    await person.clock.pass(1000);
    assert.equal(person.suggester.state.kind, 'no-model');
    model = MODEL;
    person.suggester.reconsider();
    await person.clock.pass(1000);
    assert.equal(person.ghost, '1;');
    assert.equal(reopened.length, 1);
  });

  it('is asked again when the ignore files are read', async () => {
    let excluded: NotSent | undefined = 'unknown-yet';
    const person = new Person('x = |\n', { excluded: () => excluded });
    reopens(person);
    person.answers = () => ['1;'];
    person.ask();
    await person.clock.pass(1000);
    assert.equal(person.asked.length, 0);
    excluded = undefined;
    person.suggester.reconsider();
    await person.clock.pass(1000);
    assert.equal(person.ghost, '1;');
  });

  it('is asked again when completions are switched on, and says until then that they are off', async () => {
    const person = new Person('x = |\n');
    reopens(person);
    person.answers = () => ['1;'];
    person.settings = { ...DEFAULT_COMPLETION_SETTINGS, enabled: false };
    person.ask();
    await person.clock.pass(1000);
    assert.deepEqual(person.suggester.state, { kind: 'silent', why: 'off' });
    assert.equal(person.asked.length, 0);
    person.settings = DEFAULT_COMPLETION_SETTINGS;
    person.suggester.reconsider();
    await person.clock.pass(1000);
    assert.equal(person.suggester.state.kind, 'ready');
    assert.equal(person.ghost, '1;');
  });

  it('says nothing of the document that the person goes on to', () => {
    const person = new Person('x = |\n', { excluded: () => 'gitignored' });
    person.ask();
    assert.deepEqual(person.suggester.state, { kind: 'silent', why: 'gitignored' });
    person.suggester.documentShown(person.paper.document);
    assert.deepEqual(person.suggester.state, { kind: 'ready' });
  });

  it('is asked again once when the person has repaired what failed', async () => {
    const person = new Person('x = |\n');
    const reopened = reopens(person);
    person.answers = () => new SvcError({ status: 401, errorType: 'authentication_required', message: 'No.' });
    person.ask();
    await person.clock.pass(1000);
    assert.equal(person.suggester.state.kind, 'problem');
    person.answers = () => ['1;'];
    person.suggester.reconsider();
    await person.clock.pass(1000);
    assert.equal(person.ghost, '1;');
    person.suggester.reconsider();
    assert.equal(reopened.length, 1);
  });

  it('is left alone where something is on screen, or nothing was wished for', () => {
    const person = new Person('x = |\n');
    const reopened = reopens(person);
    person.suggester.reconsider();
    assert.deepEqual(reopened, []);
    assert.equal(person.asked.length, 0);
  });
});

describe('asking again because a suggestion grew', () => {
  it('sends nothing where the caret went elsewhere meanwhile', async () => {
    const person = new Person('x = |\n');
    person.ask({ trigger: 'grown' });
    await person.clock.pass(2000);
    assert.equal(person.asked.length, 0);
    assert.equal(person.ghost, undefined);
  });

  it('answers for the key that was typed just before, whose own asking it has taken the place of', async () => {
    const person = new Person('x = |\n');
    person.answers = ({ prefix }) => (prefix.endsWith('+ ') ? ['right();'] : ['wrong();']);
    person.edit('1');
    await person.clock.pass(1000);
    assert.equal(person.ghost, 'wrong();');
    // The editor has not asked yet when the asking again comes.
    person.suggester.documentChanged(person.change(' + '));
    person.ask({ trigger: 'grown' });
    await person.clock.pass(2000);
    assert.equal(person.ghost, 'right();');
  });

  it('waits for what is on its way for the key before it, and sends nothing more', async () => {
    const person = new Person('x = |\n');
    person.answers = () => ['right();'];
    person.edit('1');
    await person.clock.pass(50);
    assert.equal(person.asked.length, 1);
    person.ask({ trigger: 'grown' });
    await person.clock.pass(2000);
    assert.equal(person.ghost, 'right();');
    assert.equal(person.asked.length, 1);
  });

  it('does not come once the text went another way', async () => {
    const person = new Person('x = |\n');
    person.answers = ({ prefix }) => (prefix.endsWith('!') ? [] : ['a;\n', 'b;\n', 'c;']);
    person.pieceMs = 30;
    person.edit('1');
    await person.clock.pass(150);
    assert.equal(person.ghost, 'a;');
    person.edit('!');
    await person.clock.pass(1000);
    assert.deepEqual(person.grown, []);
  });

  it('comes no sooner than the editor has had time to show the first line', async () => {
    const person = new Person('x = |\n');
    person.answers = () => ['a;\n', 'b;\n', 'c;\n', 'd;'];
    person.pieceMs = 10;
    person.ask();
    await person.clock.pass(160);
    assert.deepEqual(person.grown, []);
    await person.clock.pass(100);
    assert.ok(person.grown.length > 0 && person.grown.length <= 2);
    assert.equal(person.ghost, 'a;\nb;\nc;\nd;');
  });
});

describe('with completions only by hand', () => {
  it('what was asked for stays while it is typed, and nothing is sent for it', async () => {
    const person = new Person('x = |\n');
    person.settings = { ...person.settings, trigger: 'manual' };
    person.answers = () => ['first();'];
    person.edit('f');
    await person.clock.pass(1000);
    assert.equal(person.asked.length, 0);
    person.edit('', { deleted: 1 });
    person.ask({ trigger: 'invoke' });
    await person.clock.pass(1000);
    assert.equal(person.ghost, 'first();');
    await person.type('fir');
    assert.equal(person.ghost, 'st();');
    await person.type('x');
    assert.equal(person.ghost, undefined);
    assert.equal(person.asked.length, 1);
  });
});

describe('context that is kept from one request to the next', () => {
  it('is not sent once the person has turned it off or excluded its file', async () => {
    const snippets = ['tab.ts', 'other.ts'].map((path) => ({
      kind: 'open-tab' as const,
      path,
      line: 0,
      text: `of ${path}`,
    }));
    let excluded = '';
    const person = new Person('a = |', {
      context: async (_, { openTabs }) => (openTabs ? snippets : []),
      excluded: (path) => (path === excluded ? 'gitignored' : undefined),
    });
    person.answers = () => ['¤'];
    const sent = async () => {
      person.edit('x + ');
      await person.clock.pass(1000);
      return person.asked.at(-1)?.fimRequest.prefix.match(/of \w+\.ts/g) ?? [];
    };
    assert.deepEqual(await sent(), ['of other.ts', 'of tab.ts']);
    excluded = 'other.ts';
    assert.deepEqual(await sent(), ['of tab.ts']);
    person.settings = { ...person.settings, context: { ...person.settings.context, openTabs: false } };
    assert.deepEqual(await sent(), []);
    assert.equal(person.asked.length, 3);
  });
});

describe('the connection', () => {
  it('is opened for a document that may be completed, again at the first key after a rest, and not while it is warm', async () => {
    let warmed = 0;
    const person = new Person('x = |\n', { warm: () => (warmed += 1) });
    person.answers = () => ['1;'];
    person.suggester.documentShown(person.paper.document);
    assert.equal(warmed, 1);
    person.type('1');
    await person.clock.pass(1_000);
    assert.equal(warmed, 1);
    await person.clock.pass(40_000);
    person.type('2');
    assert.equal(warmed, 2);
  });

  it('is left alone where nothing would be asked', async () => {
    let warmed = 0;
    let excluded: NotSent | undefined;
    let model: typeof MODEL | undefined = MODEL;
    const person = new Person('x = |\n', {
      warm: () => (warmed += 1),
      excluded: () => excluded,
      model: () => model,
    });
    const show = () => person.suggester.documentShown(person.paper.document);
    person.settings = { ...DEFAULT_COMPLETION_SETTINGS, enabled: false };
    show();
    person.settings = { ...DEFAULT_COMPLETION_SETTINGS, languages: { '*': false } };
    show();
    person.settings = { ...DEFAULT_COMPLETION_SETTINGS, trigger: 'manual' };
    show();
    person.settings = DEFAULT_COMPLETION_SETTINGS;
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
});
