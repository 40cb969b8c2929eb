import assert from 'node:assert/strict';
import { type CompletionHarness, clear, startCompletionHarness } from './completion-harness.ts';

/** A file as it is, what is typed at its end, the answer of the model, and the file after accepting it. */
const TEXTS = [
  {
    name: 'Windows line ends',
    file: 'crlf.ts',
    before: 'const a = 1;\r\nconst b = ',
    typed: 'a + ',
    answer: 'a * 2;\nconst c = b;',
    after: 'const a = 1;\r\nconst b = a + a * 2;\r\nconst c = b;',
  },
  {
    name: 'emoji and combining characters',
    file: 'emoji.ts',
    before: 'const s = "👩‍👩‍👧 e\u0301";\nconst t = ',
    typed: 's + ',
    answer: '"🎉👍🏽 nai\u0308ve";',
    after: 'const s = "👩‍👩‍👧 e\u0301";\nconst t = s + "🎉👍🏽 nai\u0308ve";',
  },
  {
    name: 'right-to-left text',
    file: 'rtl.ts',
    before: 'const s = "שלום עולם";\nconst t = ',
    typed: 's + ',
    answer: '"مرحبا بالعالم";',
    after: 'const s = "שלום עולם";\nconst t = s + "مرحبا بالعالم";',
  },
  {
    name: 'tabs, with an answer in spaces',
    file: 'tabs.ts',
    before: 'function f() {\n\tif (a) {\n\t\treturn 1;\n\t}\n\tconst x = ',
    typed: '2 * ',
    answer: '3;\n    return x;\n}',
    after: 'function f() {\n\tif (a) {\n\t\treturn 1;\n\t}\n\tconst x = 2 * 3;\n\treturn x;\n}',
  },
  {
    name: 'spaces, with an answer in tabs',
    file: 'spaces.ts',
    before: 'function f() {\n  if (a) {\n    return 1;\n  }\n  const x = ',
    typed: '2 * ',
    answer: '3;\n\treturn x;\n}',
    after: 'function f() {\n  if (a) {\n    return 1;\n  }\n  const x = 2 * 3;\n  return x;\n}',
  },
] as const;

describe('ghost text in different files', () => {
  let at: CompletionHarness;

  before(async () => {
    at = await startCompletionHarness();
  });
  after(() => at?.close());
  afterEach(() => clear(at));

  for (const { name, file, before, typed, answer, after } of TEXTS) {
    it(`ghost text: fits into a file with ${name}`, async () => {
      at.answer = [answer];
      await at.edit(file, before);
      await at.type(typed);
      await at.appears(answer.split('\n').at(-1));
      await at.accept();
      assert.equal(await at.saved(file), after);
    });
  }

  it('ghost text: emoji and right-to-left text can be typed through', async () => {
    at.answer = ['"🎉 مرحبا e\u0301";'];
    await at.edit('through.ts', 'const t = ');
    await at.type('s + ');
    await at.shows('"🎉 مرحبا e\u0301";');
    const before = at.completionRequests().length;
    for (const character of ['"', '🎉', ' ', 'م']) await at.page.keyboard.insertText(character);
    // The editor has closed the quote.
    await at.appears(';');
    assert.equal(at.completionRequests().length, before);
    await at.accept();
    assert.equal(await at.saved('through.ts'), 'const t = s + "🎉 مرحبا e\u0301";');
  });
});
