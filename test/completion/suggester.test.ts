import assert from 'node:assert/strict';
import { Person } from './editor-harness.ts';

describe('a suggestion while typing', () => {
  it('is shown when its first line is there, and grows at its end', async () => {
    const person = new Person('function add(a, b) |\n');
    person.answers = () => ['{\n  return a', ' + b;\n', '}'];
    person.pieceMs = 200;
    person.ask();
    await person.clock.pass(250);
    assert.equal(person.ghost, '{');
    await person.clock.pass(1000);
    assert.equal(person.ghost, '{\n  return a + b;\n}');
    assert.equal(person.asked.length, 1);
  });

  it('shrinks while it is typed, in the same tick and without another request', async () => {
    const person = new Person('const sum = |\n');
    person.answers = () => ['first + second;'];
    person.ask();
    await person.clock.pass(1000);
    assert.equal(person.ghost, 'first + second;');
    for (let typed = 1; typed <= 6; typed++) {
      person.edit('first '[typed - 1] ?? '');
      assert.equal(person.ghost, 'first + second;'.slice(typed));
    }
    await person.clock.pass(1000);
    assert.equal(person.asked.length, 1);
  });

  it('comes back in the same tick when a character is deleted', async () => {
    const person = new Person('const sum = |\n');
    person.answers = () => ['first + second;'];
    person.ask();
    await person.clock.pass(1000);
    person.edit('x');
    assert.equal(person.ghost, undefined);
    person.edit('', { deleted: 1 });
    assert.equal(person.ghost, 'first + second;');
    person.edit('', { deleted: 1 });
    assert.equal(person.ghost, ' first + second;');
  });

  it('is taken from a request that was sent some keys ago', async () => {
    const person = new Person('const sum = |\n');
    person.answers = () => ['first + second;'];
    person.firstTextMs = 500;
    person.ask();
    await person.clock.pass(100);
    await person.type('fir', 100);
    assert.equal(person.ghost, undefined);
    await person.clock.pass(1000);
    assert.equal(person.ghost, 'st + second;');
    assert.equal(person.asked.length, 1);
  });
});

describe('a suggestion and the editor', () => {
  it('is not lost when the editor closes a bracket that was typed', async () => {
    const person = new Person('total|\n');
    person.answers = () => ['(items, 1);'];
    person.ask();
    await person.clock.pass(1000);
    person.edit('(', { behind: ')' });
    assert.equal(person.ghost, 'items, 1);');
    assert.equal(person.picture, 'total(items, 1);\n');
    assert.equal(person.asked.length, 1);
  });

  it('is not doubled when Enter puts the closing brace on a line of its own', async () => {
    const person = new Person('function f() |\n\nnext();\n');
    person.answers = () => ['{\n  return 1;\n}'];
    person.ask();
    await person.clock.pass(1000);
    person.edit('{', { behind: '}' });
    assert.equal(person.picture, 'function f() {\n  return 1;\n}\n\nnext();\n');
    person.edit('\n  ', { behind: '\n' });
    assert.equal(person.picture, 'function f() {\n  return 1;\n}\n\nnext();\n');
    assert.equal(person.asked.length, 1);
  });

  it('continues the item that is selected in the list', async () => {
    const person = new Person('person.na|\n');
    person.answers = (fimRequest) => (fimRequest.prefix.endsWith('person.name') ? ['.trim();'] : ['wrong']);
    const selectedCompletion = { text: 'name', startCharacter: 7, endCharacter: 9 };
    person.ask({ selectedCompletion });
    await person.clock.pass(1000);
    assert.deepEqual(
      person.visible.map(({ insertText, replaceBefore, replaceAfter }) => ({
        insertText,
        replaceBefore,
        replaceAfter,
      })),
      [{ insertText: 'name.trim();', replaceBefore: 2, replaceAfter: 0 }],
    );
  });

  it('has the ends of line of its document', async () => {
    const person = new Person('f(|\n');
    person.paper.eol = '\r\n';
    person.answers = () => ['{\r\n  a: 1,\r\n', '});'];
    person.ask();
    await person.clock.pass(1000);
    assert.equal(person.ghost, '{\r\n  a: 1,\r\n});');
    assert.ok(!person.asked[0]?.fimRequest.prefix.includes('\r'));
  });

  it('offers another one by hand, behind the one on screen', async () => {
    const person = new Person('x = |\n');
    person.answers = (fimRequest) => [fimRequest.temperature === undefined ? 'first;' : 'second;'];
    person.ask();
    await person.clock.pass(1000);
    person.ask({ trigger: 'invoke' });
    await person.clock.pass(1000);
    assert.deepEqual(
      person.visible.map(({ insertText }) => insertText),
      ['first;', 'second;'],
    );
  });

  it('stays first when another answer comes to say the same', async () => {
    const person = new Person('x = |\n');
    person.answers = () => ['first(', ');\n', 'second();'];
    person.pieceMs = 300;
    person.ask();
    await person.clock.pass(2000);
    person.ask({ trigger: 'invoke' });
    await person.clock.pass(2000);
    const { id } = person.visible[0] ?? {};
    person.ask({ trigger: 'invoke' });
    await person.clock.pass(500);
    person.ask();
    assert.equal(person.visible[0]?.id, id);
    assert.equal(person.ghost, 'first();\nsecond();');
  });

  it('counts what was accepted once, whole or in parts', async () => {
    const person = new Person('x = |\n');
    person.answers = () => ['alpha beta gamma;'];
    person.ask();
    await person.clock.pass(1000);
    person.edit('alpha');
    person.edit(' ');
    assert.equal(person.suggester.counts.acceptedCharacters, 5);
    person.accept();
    assert.equal(person.suggester.counts.acceptedCharacters, 16);
    assert.ok((person.suggester.counts.costPerAcceptedCharacter ?? 0) > 0);
  });

  it('asks on after it was accepted, as after a key although the editor says by hand', async () => {
    const person = new Person('x = |\n');
    person.answers = () => [';'];
    person.ask();
    await person.clock.pass(1000);
    assert.equal(person.visible[0]?.requestAfterAccept, true);
    person.settings = { ...person.settings, trigger: 'manual' };
    person.suggester.documentChanged(person.change(';'));
    person.ask({ trigger: 'invoke' });
    await person.clock.pass(1000);
    assert.equal(person.asked.length, 1);
    assert.deepEqual(person.suggester.state, { kind: 'silent', why: 'manual-only' });
    person.ask({ trigger: 'invoke' });
    await person.clock.pass(1000);
    assert.equal(person.asked.length, 2);
  });

  it('does not ask on when it was asked for by hand, grown or not', async () => {
    const person = new Person('x = |\n');
    person.settings = { ...person.settings, trigger: 'manual' };
    person.answers = () => ['alpha;\n', 'beta;'];
    person.ask({ trigger: 'invoke' });
    await person.clock.pass(1000);
    assert.equal(person.grown.length, 1);
    assert.equal(person.visible[0]?.requestAfterAccept, false);
    person.suggester.documentChanged(person.change('alpha;\nbeta;'));
    person.ask({ trigger: 'invoke' });
    await person.clock.pass(1000);
    assert.equal(person.asked.length, 2);
  });

  it('is nothing where it is not wanted', async () => {
    const cases: readonly ((person: Person) => void)[] = [
      (person) => person.ask({ carets: 2 }),
      (person) => person.ask({ selecting: true }),
      (person) => {
        person.paper.languageId = 'markdown';
        person.ask();
      },
      (person) => {
        person.settings = { ...person.settings, enabled: false };
        person.ask({ trigger: 'invoke' });
      },
      (person) => {
        person.settings = { ...person.settings, disabledGlobs: ['**/a.*'] };
        person.ask({ trigger: 'invoke' });
      },
      (person) => {
        person.settings = { ...person.settings, trigger: 'manual' };
        person.ask();
      },
      (person) => {
        person.paper = Object.assign(person.paper, { before: 'na', after: 'me = 1;' });
        person.ask();
      },
    ];
    for (const act of cases) {
      const person = new Person('x = |\n');
      person.answers = () => ['1;'];
      act(person);
      await person.clock.pass(2000);
      assert.equal(person.asked.length, 0, act.toString());
    }
  });
});

describe('a request', () => {
  it('is stopped only when another one goes out because of what was typed', async () => {
    const person = new Person('x = |\n');
    person.answers = (fimRequest) => [fimRequest.prefix.endsWith('q') ? 'uick();' : 'first();'];
    person.firstTextMs = 600;
    person.ask();
    await person.clock.pass(200);
    person.edit('f');
    await person.clock.pass(300);
    assert.deepEqual(
      person.asked.map(({ stopped }) => stopped),
      [false],
    );
    await person.clock.pass(1000);
    assert.equal(person.ghost, 'irst();');
  });

  it('goes out for what comes after acceptance, where that is free', async () => {
    const free = { ref: 'local/fim', contextTokens: 0, cost: { input: 0, output: 0 } };
    const person = new Person('|\n', { model: () => free });
    person.settings = { ...person.settings, speculation: 'free' };
    person.answers = (fimRequest) =>
      fimRequest.prefix.endsWith('a();') ? ['\nb();'] : fimRequest.prefix.endsWith('b();') ? [] : ['a();'];
    person.ask();
    await person.clock.pass(1000);
    assert.equal(person.ghost, 'a();');
    assert.equal(person.asked.length, 2);
    person.accept();
    assert.equal(person.ghost, '\nb();');
  });

  it('does not wait for context longer than 30 ms', async () => {
    const person = new Person('x = |\n', { context: () => new Promise(() => undefined) });
    person.ask();
    await person.clock.pass(31);
    assert.equal(person.asked.length, 1);
  });

  it('starts like the one before, so that the model can reuse what it has read', async () => {
    const lines = Array.from({ length: 400 }, (_, line) => `const value${line} = compute(${line});`);
    const person = new Person(`${lines.join('\n')}\n|\n${lines.join('\n')}`);
    person.answers = () => ['¤'];
    for (let i = 0; i < 20; i++) {
      person.edit(`call${i}();\n`);
      await person.clock.pass(1000);
    }
    const prefixes = person.asked.map(({ fimRequest }) => fimRequest.prefix);
    assert.ok(prefixes.length >= 15);
    const moved = prefixes.filter((prefix, i) => i > 0 && !prefix.startsWith(prefixes[i - 1] ?? ''));
    assert.ok(moved.length <= 1, `${moved.length}`);
    const suffixes = new Set(person.asked.map(({ fimRequest }) => fimRequest.suffix));
    assert.equal(suffixes.size, 1);
  });

  it('goes slower near the budget of the hour, then stops and says so', async () => {
    const person = new Person('x = |\n');
    // A request costs about $0.00002 here.
    person.settings = { ...person.settings, budgetPerHour: 0.0001 };
    person.answers = () => ['¤¤¤¤ ¤¤¤¤ ¤¤¤¤'];
    for (let i = 0; i < 30; i++) {
      person.edit('a');
      await person.clock.pass(2000);
    }
    assert.ok(person.asked.length < 15, `${person.asked.length}`);
    assert.equal(person.suggester.state.kind, 'budget-spent');
    await person.clock.pass(3_600_000);
    const asked = person.asked.length;
    person.edit('b');
    await person.clock.pass(2000);
    assert.equal(person.asked.length, asked + 1);
  });

  it('reads no more of a very large document than its window', async () => {
    const person = new Person('|');
    const read = new Set<number>();
    const long = 'x'.repeat(100_000);
    const document = {
      ...person.paper.document,
      lineCount: 50_000,
      lineAt: (line: number) => {
        read.add(line);
        return line % 1000 === 0 ? long : 'const a = 1;';
      },
    };
    person.ask({ document, position: { line: 25_010, character: 12 } });
    person.ask({ document, position: { line: 25_000, character: 100_000 } });
    await person.clock.pass(1000);
    assert.equal(person.asked.length, 1);
    assert.ok((person.asked[0]?.fimRequest.prefix.length ?? 0) <= 9_100);
    assert.ok(read.size < 700, `${read.size}`);
  });
});
