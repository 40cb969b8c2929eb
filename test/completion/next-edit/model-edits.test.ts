import assert from 'node:assert/strict';
import type { NextEditModel } from '../../../src/completion/next-edit/model/edit-predictor.ts';
import type { NextEditsDeps } from '../../../src/completion/next-edit/next-edits.ts';
import type { Snippet } from '../../../src/completion/prompt/context.ts';
import { CircuitBreaker } from '../../../src/completion/request/circuit-breaker.ts';
import { UsageBudget } from '../../../src/completion/request/usage-budget.ts';
import type { EditRequest } from '../../../src/wire/edit/edit-request.ts';
import { SvcError } from '../../../src/wire/errors/svc-error.ts';
import type { Event } from '../../../src/wire/event.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { NextEditHarness } from './next-edit-harness.ts';

const MODEL: NextEditModel = {
  ref: 'oracle/edit',
  contextTokens: 8_000,
  cost: { input: 1, output: 2 },
  dialect: 'sweep-1',
};
const LATENCY_MS = 300;

const CODE = `function load(id: string) {
  const user = find(id);
  return user.name;
}

function show(id: string) {
  const name = load(id);
  print(name);
}
`;

interface ModelOptions extends Partial<NextEditsDeps> {
  readonly dialect?: NextEditModel['dialect'];
  readonly text?: string;
}

/** An editor whose model rewrites the region. Undefined: the region stays as it is. */
class ModelHarness extends NextEditHarness {
  readonly requests: EditRequest[];
  readonly stopped: number[];

  constructor(rewrite: (region: string) => string | SvcError, { dialect, text = CODE, ...deps }: ModelOptions = {}) {
    const requests: EditRequest[] = [];
    const stopped: number[] = [];
    const model = { ...MODEL, dialect: dialect ?? MODEL.dialect };
    super(text, {
      model: () => model,
      predict: () => {
        const clock = this.clock;
        return async function* (request, _options, signal): AsyncGenerator<Event> {
          const index = requests.push(request) - 1;
          signal.addEventListener('abort', () => stopped.push(index));
          await clock.sleep(LATENCY_MS);
          const answer = rewrite(request.region);
          if (answer instanceof SvcError) yield { type: 'error', error: answer };
          else {
            yield { type: 'text', part: 0, text: model.dialect === 'chat-patch' ? `\`\`\`\n${answer}\`\`\`` : answer };
            yield { type: 'finish', reason: 'stop' };
          }
        };
      },
      ...deps,
    });
    this.requests = requests;
    this.stopped = stopped;
  }
}

/** The user gives `load` a second parameter; the model changes the call. */
const CALL = (region: string): string => region.replace('load(id);', 'load(id, true);');

async function changeSignature(editor: NextEditHarness): Promise<void> {
  await editor.replace('id: string', 'id: string, all: boolean');
}

describe('next edits of a model', () => {
  it('shows the recent edit to the model and offers what the model changes', async () => {
    const editor = new ModelHarness(CALL);
    await changeSignature(editor);
    assert.equal(editor.shown, '7: const name = load(id, true);');
    assert.deepEqual(
      editor.current?.replacements.map(({ expected, text }) => [expected, text]),
      [['', ', true']],
    );
    assert.equal(editor.requests.length, 1);
    const [request] = editor.requests;
    assert.equal(request?.path, 'a.ts');
    assert.match(
      request?.edits[0]?.diff ?? '',
      /^@@ -1,4 \+1,4 @@\n-function load\(id: string\) \{\n\+function load\(id: string, all: boolean\) \{\n {3}const user/,
    );
    assert.equal(request?.original, CODE);
  });

  it('the model gets the context of completions, masked, within its window, with the reason for each piece', async () => {
    const secret = 'AKIAIOSFODNN7EXAMPL3';
    const context: readonly Snippet[] = [
      { kind: 'declaration', path: 'lib.ts', line: 4, text: 'function find(id: string): User', score: 3 },
      { kind: 'recent-edit', note: 'Changed', path: 'b.ts', line: 1, text: '-a\n+b', score: 2 },
      { kind: 'problem', note: 'Problem', path: 'a.ts', line: 6, text: `line 7: ${secret}`, score: 3 },
      { kind: 'open-tab', path: 'large.ts', line: 0, text: 'y'.repeat(3_990), score: 1 },
    ];
    const editor = new ModelHarness(CALL, { context: () => context });
    await changeSignature(editor);
    const [request] = editor.requests;
    assert.deepEqual(
      request?.snippets.map(({ path }) => path),
      ['lib.ts', 'Problem: a.ts'],
    );
    const last = editor.engine.lastRequest;
    assert.deepEqual(last?.context, ['a.ts', 'lib.ts:5 (declaration)', 'Problem: a.ts:7 (problem)']);
    assert.equal(last?.masked, 1);
    assert.ok(!last?.prompt.includes(secret));
  });

  it('offers the edits of one answer one after the other without another request', async () => {
    const editor = new ModelHarness((region) =>
      CALL(region).replace('user.name', 'user?.name').replace('print(name)', 'print(...name)'),
    );
    await changeSignature(editor);
    const seen: (string | undefined)[] = [];
    for (let count = 0; count < 2; count++) {
      seen.push(editor.shown);
      assert.equal(editor.requests.length, 1);
      await editor.accept();
    }
    assert.deepEqual(seen, ['3: return user?.name;', '7: const name = load(id, true);; 8: print(...name);']);
    assert.equal(editor.requests.length, 2, 'the model is asked again after the last one');
  });

  it('an answer that arrives after more typing is offered if it still holds, without another request', async () => {
    const editor = new ModelHarness((region) => region.replace('find(id);', 'find(id, all);'));
    const at = editor.active.find('find(id)');
    editor.moveTo({ line: 0, character: 24 });
    editor.change([{ start: { line: 0, character: 24 }, end: { line: 0, character: 24 }, text: ', all' }]);
    await editor.clock.pass(450);
    assert.equal(editor.requests.length, 1);
    editor.moveTo({ line: at.line, character: at.character + 7 });
    await editor.type(', a');
    await editor.settle();
    assert.equal(editor.shown, '2: const user = find(id, all);');
    assert.equal(editor.current?.replacements[0]?.expected, ', a');
  });

  it('lines that the user types at another place of the same gap are not offered again', async () => {
    const text = 'one();\n\ntwo();\n';
    const editor = new ModelHarness(
      (region) => (region.includes('three') ? region : region.replace('one();\n', 'one();\nthree();\n')),
      { text },
    );
    await editor.replace('two', 'due');
    assert.equal(editor.current?.replacements[0]?.text, '\nthree();');
    editor.moveTo({ line: 1, character: 0 });
    await editor.type('th');
    assert.equal(editor.current, undefined);
    await editor.type('ree();');
    await editor.settle();
    assert.equal(editor.current, undefined);
  });

  it('a place is asked about once as long as it stays the same', async () => {
    const editor = new ModelHarness((region) => region);
    await changeSignature(editor);
    for (const line of [3, 0, 3, 1]) {
      editor.moveTo({ line, character: 0 });
      await editor.clock.pass(500);
    }
    assert.equal(editor.requests.length, 1);
  });

  it('asks about the new place when the cursor moves to another file shortly after an edit', async () => {
    const editor = new ModelHarness((region) => region.replace('first = load(id);', 'first = load(id, true);'));
    await changeSignature(editor);
    const other = editor.open('file:///work/b.ts', 'const first = load(id);\nsecond(first);\n');
    editor.show(other);
    await editor.settle();
    assert.equal(editor.current?.uri, 'file:///work/b.ts');
    assert.equal(editor.shown, '1: const first = load(id, true);');
    assert.equal(editor.requests.at(-1)?.edits[0]?.path, 'a.ts');
  });

  it('an excluded file is neither in the edits nor in the snippets of a request', async () => {
    const excluded = (uri: string) => (uri.endsWith('b.ts') ? ('gitignored' as const) : undefined);
    const editor = new ModelHarness(CALL, { excluded });
    const first = editor.active;
    editor.show(editor.open('file:///work/b.ts', 'const password = 1;\n'));
    await editor.replace('password', 'passphrase');
    editor.show(first);
    await changeSignature(editor);
    assert.doesNotMatch(JSON.stringify(editor.requests), /passphrase|password/);
    assert.equal(editor.requests.length, 1);
  });

  it('secrets are masked in the region, the edits and the last request', async () => {
    const key = `sk-ant-api03-${'a1B2c3D4e5F6g7H8'.repeat(5)}`;
    const editor = new ModelHarness(CALL, { text: `const apiKey = '${key}';\n${CODE}` });
    await editor.replace(`= '`, `=  '`);
    await changeSignature(editor);
    assert.ok(editor.requests.length > 0);
    assert.ok(!JSON.stringify(editor.requests).includes(key));
    assert.ok(!JSON.stringify(editor.engine.lastRequest).includes(key));
    assert.equal(editor.engine.lastRequest?.masked, 1);
  });

  it('no model is asked while ghost text is shown, and one is when it goes', async () => {
    const editor = new ModelHarness(CALL);
    editor.engine.ghostTextShown(true);
    await changeSignature(editor);
    assert.equal(editor.requests.length, 0);
    editor.engine.ghostTextShown(false);
    await editor.settle();
    assert.equal(editor.shown, '7: const name = load(id, true);');
  });

  it('no model is asked for some seconds after a rejection, and its lines are left alone', async () => {
    const editor = new ModelHarness(CALL);
    await changeSignature(editor);
    assert.ok(editor.current);
    editor.engine.rejected(editor.current);
    await editor.replace('all: boolean', 'every: boolean');
    assert.equal(editor.requests.length, 1);
    await editor.clock.pass(20_000);
    await editor.replace('every: boolean', 'full: boolean');
    assert.equal(editor.requests.length, 2);
    assert.equal(editor.current, undefined);
  });

  it('an accepted edit that is undone is not offered again', async () => {
    const editor = new ModelHarness(CALL);
    await changeSignature(editor);
    await editor.accept();
    const start = editor.active.find(', true');
    editor.change([{ start, end: { ...start, character: start.character + 6 }, text: '' }], 'undo');
    await editor.settle();
    await editor.replace('all: boolean', 'every: boolean');
    assert.equal(editor.current, undefined);
  });

  it('an undone change of the user after an acceptance is no rejection', async () => {
    const editor = new ModelHarness((region) =>
      region.includes('every') ? region.replace('print(name);', 'print(...name);') : CALL(region),
    );
    await changeSignature(editor);
    await editor.accept();
    const end = { line: 7, character: 14 };
    editor.moveTo(end);
    await editor.type(' x');
    editor.change([{ start: end, end: { ...end, character: 16 }, text: '' }], 'undo');
    await editor.settle();
    await editor.replace('all: boolean', 'every: boolean');
    assert.equal(editor.shown, '8: print(...name);');
  });

  it('a chat model is asked by hand only', async () => {
    const editor = new ModelHarness(CALL, { dialect: 'chat-patch' });
    await changeSignature(editor);
    assert.equal(editor.requests.length, 0);
    const requested = editor.engine.request(editor.active.document, editor.position);
    await editor.settle();
    await requested;
    assert.equal(editor.shown, '7: const name = load(id, true);');
  });

  it('a failure opens the circuit: no request follows until it closes, and a request by hand tries again', async () => {
    let failing = true;
    const error = new SvcError({
      errorType: 'authentication_required',
      message: { template: 'wrong key', values: [] },
    });
    const editor = new ModelHarness((region) => (failing ? error : CALL(region)));
    await changeSignature(editor);
    await editor.replace('all: boolean', 'every: boolean');
    assert.equal(editor.requests.length, 1);
    assert.equal(editor.engine.problem?.needsUser, true);
    failing = false;
    const requested = editor.engine.request(editor.active.document, editor.position);
    await editor.settle();
    await requested;
    assert.equal(editor.shown, '7: const name = load(id, true);');
    assert.equal(editor.engine.problem, undefined);
  });

  it('shares the circuit breaker of completions for a model of the same provider, and the budget', async () => {
    const editor = new NextEditHarness('');
    const circuit = new CircuitBreaker(editor.clock);
    const budget = new UsageBudget(editor.clock);
    const limited = new ModelHarness(CALL, { limits: { budget, circuit: () => circuit, running: () => 0 } });
    await changeSignature(limited);
    assert.equal(budget.counts().requests, 1);
    assert.ok((budget.counts().cost ?? 0) > 0);
    limited.settings = { ...limited.settings, budgetPerHour: 0.000_000_1 };
    await limited.accept();
    await limited.replace('all: boolean', 'every: boolean');
    assert.equal(limited.requests.length, 1);
  });

  it('completions and chats have the slots of the model’s server first, but not before the user', async () => {
    let server: { readonly slots?: number; readonly loading?: true } = { slots: 1 };
    let running = 1;
    const limits = { budget: new UsageBudget(new VirtualClock()), circuit: () => undefined, running: () => running };
    const editor = new ModelHarness(CALL, { limits, model: () => ({ ...MODEL, ...server }) });
    await changeSignature(editor);
    assert.equal(editor.requests.length, 0, 'a completion runs');
    running = 0;
    for (const busy of [{ slots: 0 }, { slots: 1, loading: true as const }]) {
      server = busy;
      await editor.replace('all: boolean', 'all: boolean');
      assert.equal(editor.requests.length, 0, JSON.stringify(busy));
    }
    const requested = editor.engine.request(editor.active.document, editor.position);
    await editor.settle();
    await requested;
    assert.equal(editor.requests.length, 1);
  });

  it('a request leaves its slot to a completion or a chat', async () => {
    let slots = 1;
    const editor = new ModelHarness(CALL, { model: () => ({ ...MODEL, slots }) });
    for (const take of [() => editor.engine.yieldSlot(MODEL.ref), () => editor.engine.serverChanged()]) {
      const before = editor.requests.length;
      slots = 1;
      void editor.replace(before === 0 ? 'id: string' : 'all: boolean', 'all: boolean, more: string');
      while (editor.requests.length === before) await editor.clock.pass(10);
      slots = 0;
      take();
      assert.ok(editor.stopped.includes(before));
      await editor.clock.pass(10_000);
    }
  });

  it('an answer without end is not read to its end', async () => {
    const editor = new ModelHarness((region) => region.repeat(1_000));
    await changeSignature(editor);
    assert.equal(editor.current, undefined);
    assert.equal(editor.requests.length, 1);
  });

  it('logs one line per request', async () => {
    const lines: string[] = [];
    const editor = new ModelHarness(CALL, { log: (line) => lines.push(line) });
    await changeSignature(editor);
    assert.match(
      lines[0] ?? '',
      /^edit oracle\/edit sweep-1, sent \d+ chars, context 1, max \d+ tokens, first text 300 ms, answered/,
    );
  });
});

/** [title, document, the user's edit, the model's edits, what is offered] */
const ANSWERS: readonly [
  string,
  string,
  readonly [string, string],
  readonly (readonly [string, string])[],
  string | undefined,
][] = [
  ['nothing for the same text', CODE, ['find', 'get'], [], undefined],
  ['nothing for white space only', CODE, ['find', 'get'], [['user.name', 'user .name']], undefined],
  ['nothing for a name that is nowhere', CODE, ['find', 'get'], [['print(name)', 'print(nameOf)']], undefined],
  [
    'nothing for a name that has nothing to do with the edit',
    CODE,
    ['find', 'get'],
    [['print(name)', 'show(name)']],
    undefined,
  ],
  [
    'nothing for a name of a line that the user changed at another word',
    CODE,
    ['find(id)', 'find(id, 1)'],
    [['print(name)', 'user(name)']],
    undefined,
  ],
  [
    'nothing for a known name in the place of a keyword',
    CODE,
    ['find', 'get'],
    [['return user', 'show user']],
    undefined,
  ],
  [
    'the same replacement of a name',
    'a(one);\nb(one);\nc(two);\n',
    ['one', 'two'],
    [['b(one)', 'b(two)']],
    '2: b(two);',
  ],
  [
    'a name that the user introduced',
    'import { one } from "x";\na(one);\n',
    ['{ one }', '{ one, other }'],
    [['a(one)', 'a(other)']],
    '2: a(other);',
  ],
  [
    'another name for one that the user deleted',
    'const one = two;\na(one);\nb(two);\n',
    ['const one = two;', ';'],
    [['a(one)', 'a(two)']],
    '2: a(two);',
  ],
  ['nothing for a blank line', CODE, ['find', 'get'], [['  print', '\n  print']], undefined],
  ['nothing that restores the deleted text', CODE, ['find', 'get'], [['get', 'find']], undefined],
  [
    'nothing that deletes the typed text',
    CODE,
    ['(id);\n  return', '(id, true);\n  return'],
    [[', true', '']],
    undefined,
  ],
  ['nothing that opens a bracket only', CODE, ['find', 'get'], [['user.name', '(user.name']], undefined],
  [
    'a bracket that closes an open one',
    'const a = call(1, 2;\nnext(a);\n',
    ['2;', '3;'],
    [['3;', '3);']],
    '1: const a = call(1, 3);',
  ],
  [
    'brackets that belong together as one edit',
    CODE,
    ['find', 'get'],
    [['  print(name);', '  if (name) {\n  print(name);\n  }']],
    '7: const name = load(id);; 8: if (name) {',
  ],
  [
    'nothing with a token of a template',
    CODE,
    ['find', 'get'],
    [['print(name)', 'print(name)<|endoftext|>']],
    undefined,
  ],
  ['nothing with characters that nobody sees', CODE, ['find', 'get'], [['user.name', 'user.\u202ename']], undefined],
  ['nothing of more than 30 lines', CODE, ['find', 'get'], [['  print(name);', 'x();\n'.repeat(31)]], undefined],
  [
    'a line after the last one of the file',
    'const a = 1;\nuse(a);',
    ['1', '12'],
    [['use(a);', 'use(a);\nuse(b);']],
    '2: use(a);',
  ],
  ['a deleted line', CODE, ['find', 'get'], [['  print(name);\n', '']], '8: }'],
  ['nothing for an end that the model left out', CODE, ['find', 'get'], [['  print(name);\n}\n', '']], undefined],
];

describe('answers of a model of next edits', () => {
  for (const [title, text, [old, now], changes, offered] of ANSWERS)
    it(`lead to ${title}`, async () => {
      const editor = new ModelHarness((region) => changes.reduce((all, [from, to]) => all.replace(from, to), region), {
        text,
      });
      await editor.replace(old, now);
      assert.equal(editor.requests.length, 1);
      assert.equal(editor.shown, offered);
    });

  it('are applied exactly', async () => {
    for (const [title, text, [old, now], changes, offered] of ANSWERS) {
      if (offered === undefined) continue;
      const editor = new ModelHarness((region) => changes.reduce((all, [from, to]) => all.replace(from, to), region), {
        text,
      });
      await editor.replace(old, now);
      await editor.accept();
      const expected = changes.reduce((all, [from, to]) => all.replace(from, to), text.replace(old, now));
      assert.equal(editor.text, expected, title);
    }
  });
});
