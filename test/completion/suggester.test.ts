import assert from 'node:assert/strict';
import { EditorHarness } from './editor-harness.ts';

describe('suggestions while typing', () => {
  it('suggestion: is shown with its first line and grows at its end', async () => {
    const editor = new EditorHarness('function add(a, b) |\n');
    editor.answers = () => ['{\n  return a', ' + b;\n', '}'];
    editor.pieceMs = 200;
    editor.requestSuggestion();
    await editor.clock.pass(250);
    assert.equal(editor.ghost, '{');
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, '{\n  return a + b;\n}');
    assert.equal(editor.requests.length, 1);
  });

  it('suggestion: shrinks while it is typed, in the same tick and without a request', async () => {
    const editor = new EditorHarness('const sum = |\n');
    editor.answers = () => ['first + second;'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, 'first + second;');
    for (let typed = 1; typed <= 6; typed++) {
      editor.edit('first '[typed - 1] ?? '');
      assert.equal(editor.ghost, 'first + second;'.slice(typed));
    }
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 1);
  });

  it('suggestion: returns in the same tick when a character is deleted', async () => {
    const editor = new EditorHarness('const sum = |\n');
    editor.answers = () => ['first + second;'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    editor.edit('x');
    assert.equal(editor.ghost, undefined);
    editor.edit('', { deleted: 1 });
    assert.equal(editor.ghost, 'first + second;');
    editor.edit('', { deleted: 1 });
    assert.equal(editor.ghost, ' first + second;');
  });

  it('suggestion: is taken from a request that was sent several keys earlier', async () => {
    const editor = new EditorHarness('const sum = |\n');
    editor.answers = () => ['first + second;'];
    editor.firstTextMs = 500;
    editor.requestSuggestion();
    await editor.clock.pass(100);
    await editor.type('fir', 100);
    assert.equal(editor.ghost, undefined);
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, 'st + second;');
    assert.equal(editor.requests.length, 1);
  });
});

describe('suggestions and editor behaviour', () => {
  it('suggestion: remains when the editor closes a typed bracket', async () => {
    const editor = new EditorHarness('total|\n');
    editor.answers = () => ['(items, 1);'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    editor.edit('(', { behind: ')' });
    assert.equal(editor.ghost, 'items, 1);');
    assert.equal(editor.preview, 'total(items, 1);\n');
    assert.equal(editor.requests.length, 1);
  });

  it('suggestion: contains the closing brace once when Enter moves it to a separate line', async () => {
    const editor = new EditorHarness('function f() |\n\nnext();\n');
    editor.answers = () => ['{\n  return 1;\n}'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    editor.edit('{', { behind: '}' });
    assert.equal(editor.preview, 'function f() {\n  return 1;\n}\n\nnext();\n');
    editor.edit('\n  ', { behind: '\n' });
    assert.equal(editor.preview, 'function f() {\n  return 1;\n}\n\nnext();\n');
    assert.equal(editor.requests.length, 1);
  });

  describe('a line that is less indented than the editor indents it after Enter', () => {
    /** The end of a file, and an answer of which Enter and the automatic indentation were typed. */
    async function afterEnter(below = ''): Promise<EditorHarness> {
      const editor = new EditorHarness(`function f() {\n  return {\n    a,|\n${below}`);
      editor.answers = () => ['\n  };\n}'];
      editor.requestSuggestion();
      await editor.clock.pass(1000);
      editor.edit('\n    ');
      return editor;
    }

    it('suggestion: remains, and its acceptance corrects the indentation', async () => {
      const editor = await afterEnter();
      assert.equal(editor.preview, 'function f() {\n  return {\n    a,\n  };\n}\n');
      editor.accept();
      assert.equal(editor.file.before, 'function f() {\n  return {\n    a,\n  };\n}');
      assert.equal(editor.suggester.counts.acceptedCharacters, '  };\n}'.length);
    });

    it('suggestion: remains when the editor corrects the indentation of a typed bracket', async () => {
      const editor = await afterEnter();
      editor.edit('  }', { deleted: 4 });
      assert.equal(editor.ghost, ';\n}');
      assert.equal(editor.suggester.counts.acceptedCharacters, 0);
      assert.equal(editor.requests.length, 1);
    });

    it('suggestion: replaces the indentation before a bracket, as the editor does when the bracket is typed', async () => {
      const editor = new EditorHarness('function f() {\n  return {\n    a,\n  |\n');
      editor.answers = () => ['};\n}'];
      editor.requestSuggestion();
      await editor.clock.pass(1000);
      const [first] = editor.visible;
      assert.deepEqual([first?.insertText, first?.replaceBefore], ['  };\n}', 2]);
      editor.edit('  }', { deleted: 2 });
      assert.equal(editor.ghost, ';\n}');
      assert.equal(editor.suggester.counts.acceptedCharacters, 0);
    });

    it('suggestion: ends before a closer that the next line of the document has', async () => {
      const editor = await afterEnter('}\n');
      assert.equal(editor.preview, 'function f() {\n  return {\n    a,\n  };\n}\n');
    });

    it('suggestion: is not shown if the editor has closed the bracket on the next line', async () => {
      const editor = new EditorHarness('const a = |\n');
      editor.answers = () => ['{\n};'];
      editor.requestSuggestion();
      await editor.clock.pass(1000);
      editor.edit('{', { behind: '}' });
      editor.edit('\n  ', { behind: '\n' });
      assert.equal(editor.ghost, undefined);
      await editor.clock.pass(2000);
      assert.equal(editor.requests.length, 1);
    });
  });

  it('suggestion: continues the selected item of the suggest widget', async () => {
    const editor = new EditorHarness('person.na|\n');
    editor.answers = (fimRequest) => (fimRequest.prefix.endsWith('person.name') ? ['.trim();'] : ['wrong']);
    const selectedCompletion = { text: 'name', startCharacter: 7, endCharacter: 9 };
    editor.requestSuggestion({ selectedCompletion });
    await editor.clock.pass(1000);
    assert.deepEqual(
      editor.visible.map(({ insertText, replaceBefore, replaceAfter }) => ({
        insertText,
        replaceBefore,
        replaceAfter,
      })),
      [{ insertText: 'name.trim();', replaceBefore: 2, replaceAfter: 0 }],
    );
  });

  it('suggestion: uses the line ends of its document', async () => {
    const editor = new EditorHarness('f(|\n');
    editor.file.eol = '\r\n';
    editor.answers = () => ['{\r\n  a: 1,\r\n', '});'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, '{\r\n  a: 1,\r\n});');
    assert.ok(!editor.requests[0]?.fimRequest.prefix.includes('\r'));
  });

  it('suggestion: a manual request adds an alternative after the visible one', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.answers = (fimRequest) => [fimRequest.temperature === undefined ? 'first;' : 'second;'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(1000);
    assert.deepEqual(
      editor.visible.map(({ insertText }) => insertText),
      ['first;', 'second;'],
    );
  });

  it('suggestion: remains first if another answer is equal to it', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.answers = () => ['first(', ');\n', 'second();'];
    editor.pieceMs = 300;
    editor.requestSuggestion();
    await editor.clock.pass(2000);
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(2000);
    const { id } = editor.visible[0] ?? {};
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(500);
    editor.requestSuggestion();
    assert.equal(editor.visible[0]?.id, id);
    assert.equal(editor.ghost, 'first();\nsecond();');
  });

  it('suggestion: accepted characters are counted once, in whole or in parts', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.answers = () => ['alpha beta gamma;'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    editor.edit('alpha');
    editor.edit(' ');
    assert.equal(editor.suggester.counts.acceptedCharacters, 5);
    editor.accept();
    assert.equal(editor.suggester.counts.acceptedCharacters, 16);
    assert.ok((editor.suggester.counts.costPerAcceptedCharacter ?? 0) > 0);
  });

  it('suggestion: accepting it sends the next request like a key, although the editor reports a manual trigger', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.answers = () => [';'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.visible[0]?.requestAfterAccept, true);
    editor.settings = { ...editor.settings, trigger: 'manual' };
    editor.change(';');
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 1);
    assert.deepEqual(editor.suggester.state, { kind: 'silent', why: 'manual-only' });
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 2);
  });

  it('suggestion: accepting a manually requested one does not trigger the next request', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.settings = { ...editor.settings, trigger: 'manual' };
    editor.answers = () => ['alpha;\n', 'beta;'];
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(1000);
    assert.equal(editor.grown.length, 1);
    assert.equal(editor.visible[0]?.requestAfterAccept, false);
    editor.change('alpha;\nbeta;');
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 2);
  });

  it('suggestion: none for several carets, a selection, excluded documents or within a word', async () => {
    const cases: readonly ((editor: EditorHarness) => void)[] = [
      (editor) => editor.requestSuggestion({ carets: 2 }),
      (editor) => editor.requestSuggestion({ selecting: true }),
      (editor) => {
        editor.file.languageId = 'markdown';
        editor.requestSuggestion();
      },
      (editor) => {
        editor.settings = { ...editor.settings, enabled: false };
        editor.requestSuggestion({ trigger: 'invoke' });
      },
      (editor) => {
        editor.settings = { ...editor.settings, disabledGlobs: ['**/a.*'] };
        editor.requestSuggestion({ trigger: 'invoke' });
      },
      (editor) => {
        editor.settings = { ...editor.settings, trigger: 'manual' };
        editor.requestSuggestion();
      },
      (editor) => {
        editor.file = Object.assign(editor.file, { before: 'na', after: 'me = 1;' });
        editor.requestSuggestion();
      },
    ];
    for (const act of cases) {
      const editor = new EditorHarness('x = |\n');
      editor.answers = () => ['1;'];
      act(editor);
      await editor.clock.pass(2000);
      assert.equal(editor.requests.length, 0, act.toString());
    }
  });
});

describe('completion requests', () => {
  it('request: is cancelled only when typed text causes another request', async () => {
    const editor = new EditorHarness('x = |\n');
    editor.answers = (fimRequest) => [fimRequest.prefix.endsWith('q') ? 'uick();' : 'first();'];
    editor.firstTextMs = 600;
    editor.requestSuggestion();
    await editor.clock.pass(200);
    editor.edit('f');
    await editor.clock.pass(300);
    assert.deepEqual(
      editor.requests.map(({ stopped }) => stopped),
      [false],
    );
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, 'irst();');
  });

  it('request: speculates on acceptance if the model is free', async () => {
    const free = { ref: 'local/fim', contextTokens: 0, cost: { input: 0, output: 0 } };
    const editor = new EditorHarness('|\n', { model: () => free });
    editor.settings = { ...editor.settings, speculation: 'free' };
    editor.answers = (fimRequest) =>
      fimRequest.prefix.endsWith('a();') ? ['\nb();'] : fimRequest.prefix.endsWith('b();') ? [] : ['a();'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, 'a();');
    assert.equal(editor.requests.length, 2);
    editor.accept();
    assert.equal(editor.ghost, '\nb();');
  });

  it('request: nothing is requested in advance for a text that has changed meanwhile', async () => {
    const free = { ref: 'local/fim', contextTokens: 0, cost: { input: 0, output: 0 } };
    const editor = new EditorHarness('|\n', { model: () => free });
    editor.answers = () => ['a();'];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    editor.settings = { ...editor.settings, speculation: 'free' };
    editor.requestSuggestion();
    // The same answer is still the one on display.
    editor.change('a');
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 1);
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 2);
    assert.ok(editor.requests[1]?.fimRequest.prefix.endsWith('a();'));
  });

  it('request: a document that is opened again begins with its first version', async () => {
    const free = { ref: 'local/fim', contextTokens: 0, cost: { input: 0, output: 0 } };
    const editor = new EditorHarness('|\n', { model: () => free });
    editor.settings = { ...editor.settings, speculation: 'free' };
    editor.answers = () => ['a();'];
    editor.change('b();\n');
    editor.suggester.documentClosed(editor.file.uri);
    editor.file.version = 1;
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 2);
  });

  it('request: waits for context at most 30 ms', async () => {
    const editor = new EditorHarness('x = |\n', { context: () => new Promise(() => undefined) });
    editor.requestSuggestion();
    await editor.clock.pass(31);
    assert.equal(editor.requests.length, 1);
  });

  it('request: consecutive prompts have the same start, which the model can cache', async () => {
    const lines = Array.from({ length: 400 }, (_, line) => `const value${line} = compute(${line});`);
    const editor = new EditorHarness(`${lines.join('\n')}\n|\n${lines.join('\n')}`);
    editor.answers = () => ['¤'];
    for (let i = 0; i < 20; i++) {
      editor.edit(`call${i}();\n`);
      await editor.clock.pass(1000);
    }
    const prefixes = editor.requests.map(({ fimRequest }) => fimRequest.prefix);
    assert.ok(prefixes.length >= 15);
    const moved = prefixes.filter((prefix, i) => i > 0 && !prefix.startsWith(prefixes[i - 1] ?? ''));
    assert.ok(moved.length <= 1, `${moved.length}`);
    const suffixes = new Set(editor.requests.map(({ fimRequest }) => fimRequest.suffix));
    assert.equal(suffixes.size, 1);
  });

  it('request: slows down near the hourly budget, then stops and reports it', async () => {
    const editor = new EditorHarness('x = |\n');
    // A request costs about $0.00002 here.
    editor.settings = { ...editor.settings, budgetPerHour: 0.0001 };
    editor.answers = () => ['¤¤¤¤ ¤¤¤¤ ¤¤¤¤'];
    for (let i = 0; i < 30; i++) {
      editor.edit('a');
      await editor.clock.pass(2000);
    }
    assert.ok(editor.requests.length < 15, `${editor.requests.length}`);
    assert.equal(editor.suggester.state.kind, 'budget-spent');
    await editor.clock.pass(3_600_000);
    const asked = editor.requests.length;
    editor.edit('b');
    await editor.clock.pass(2000);
    assert.equal(editor.requests.length, asked + 1);
  });

  it('request: reads only the window of a very large document', async () => {
    const editor = new EditorHarness('|');
    const read = new Set<number>();
    const long = 'x'.repeat(100_000);
    const document = {
      ...editor.file.document,
      lineCount: 50_000,
      lineAt: (line: number) => {
        read.add(line);
        return line % 1000 === 0 ? long : 'const a = 1;';
      },
    };
    editor.requestSuggestion({ document, position: { line: 25_010, character: 12 } });
    editor.requestSuggestion({ document, position: { line: 25_000, character: 100_000 } });
    await editor.clock.pass(1000);
    assert.equal(editor.requests.length, 1);
    assert.ok((editor.requests[0]?.fimRequest.prefix.length ?? 0) <= 9_100);
    assert.ok(read.size < 700, `${read.size}`);
  });
});

describe('what is not requested or offered', () => {
  /** The states of `日本語` and `한국` while an input method composes them: what each key replaces, and by what. */
  const COMPOSITIONS: readonly (readonly [string, readonly (readonly [deleted: number, text: string])[], number])[] = [
    [
      'Japanese',
      [
        [0, 'n'],
        [1, 'に'],
        [1, 'にh'],
        [2, 'にほ'],
        [2, 'にほn'],
        [3, 'にほん'],
        [3, '日本'],
      ],
      2,
    ],
    [
      'Korean',
      [
        [0, 'ㅎ'],
        [1, '하'],
        [1, '한'],
        [0, 'ㄱ'],
        [1, '구'],
        [1, '국'],
      ],
      1,
    ],
    [
      'Japanese, with kana from the first key',
      [
        [0, 'あ'],
        [1, 'あｓ'],
        [2, 'あさ'],
        [2, '朝'],
        [0, '、'],
        [0, 'k'],
        [1, 'か'],
      ],
      2,
    ],
    [
      'Japanese, with full-width letters',
      [
        [0, 'ｎ'],
        [1, 'に'],
      ],
      1,
    ],
    [
      'Chinese, with Bopomofo',
      [
        [0, 'ㄋ'],
        [1, 'ㄋㄧ'],
        [2, '你'],
      ],
      1,
    ],
    [
      'Vietnamese',
      [
        [0, 'd'],
        [1, 'đ'],
        [0, 'e'],
        [1, 'ê'],
        [1, 'ề'],
      ],
      3,
    ],
  ];
  for (const [language, keys, most] of COMPOSITIONS) {
    it(`request: none for what an input method has half composed: ${language}`, async () => {
      const editor = new EditorHarness("const s = '|';\n");
      editor.answers = () => ['、こんにちは'];
      for (const [deleted, text] of keys) {
        editor.edit(text, { deleted });
        await editor.clock.pass(500);
      }
      assert.ok(editor.requests.length < most, `${editor.requests.length} requests`);
      await editor.clock.pass(2_000);
      assert.ok(editor.requests.at(-1)?.fimRequest.prefix.endsWith(editor.file.before));
      assert.equal(editor.ghost, '、こんにちは');
    });
  }

  for (const [how, undo] of [
    ['with one key', (editor: EditorHarness) => editor.edit('', { deleted: 15 })],
    ['in part', (editor: EditorHarness) => editor.edit('', { deleted: 4 })],
  ] as const) {
    it(`suggestion: accepted and deleted ${how}, is not offered again`, async () => {
      const editor = new EditorHarness('const sum = |\n');
      editor.answers = ({ prefix }) => (prefix.endsWith('= ') ? ['first + second;'] : []);
      editor.requestSuggestion();
      await editor.clock.pass(1_000);
      editor.accept();
      await editor.clock.pass(1_000);
      undo(editor);
      assert.equal(editor.ghost, undefined);
      await editor.clock.pass(3_000);
      assert.equal(editor.ghost, undefined);
      editor.requestSuggestion({ trigger: 'invoke' });
      await editor.clock.pass(3_000);
      assert.match(String(editor.ghost), /ond;$/);
    });
  }

  describe('a suggestion of what the user has just deleted', () => {
    const CALL = 'send(order.id|)\n';
    const deleted = (answers: (asked: number) => readonly string[]) => {
      const editor = new EditorHarness(CALL, { restores: (_document, _position, text) => '.id'.includes(text) });
      editor.answers = () => answers(editor.requests.length);
      return editor;
    };

    it('suggestion: restores nothing that the user has just deleted, until it is requested', async () => {
      const editor = deleted(() => ['.id']);
      editor.edit('', { deleted: 3 });
      await editor.clock.pass(3_000);
      editor.requestSuggestion();
      await editor.clock.pass(3_000);
      assert.equal(editor.ghost, undefined);
      assert.equal(editor.requests.length, 1);
      editor.requestSuggestion({ trigger: 'invoke' });
      await editor.clock.pass(3_000);
      assert.equal(editor.ghost, '.id');
    });

    it('suggestion: of other text is offered after a deletion, also if it begins like the deleted text', async () => {
      const editor = deleted(() => ['.i', 'tems']);
      await editor.backspace(3);
      await editor.clock.pass(3_000);
      assert.equal(editor.ghost, '.items');
    });

    it('suggestion: what was on screen before the deletion stays', async () => {
      const editor = new EditorHarness('a = order|\n', { restores: () => true });
      editor.answers = () => ['.id'];
      editor.requestSuggestion({ trigger: 'invoke' });
      await editor.clock.pass(3_000);
      editor.edit('', { deleted: 1 });
      assert.equal(editor.ghost, 'r.id');
    });
  });

  it('suggestion: another idea is offered where one was accepted and deleted', async () => {
    const editor = new EditorHarness('const sum = |\n');
    editor.answers = () => [editor.requests.length === 1 ? 'first + second;' : 'total;'];
    editor.requestSuggestion();
    await editor.clock.pass(1_000);
    editor.accept();
    editor.edit('', { deleted: 15 });
    await editor.clock.pass(3_000);
    assert.equal(editor.ghost, 'total;');
  });
});
