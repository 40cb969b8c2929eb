import assert from 'node:assert/strict';
import { runCommand } from '../host/workbench.ts';
import { type CompletionHarness, clear, startCompletionHarness } from './completion-harness.ts';

describe('ghost text while typing', () => {
  let at: CompletionHarness;

  before(async () => {
    at = await startCompletionHarness();
  });
  after(() => at?.close());
  afterEach(() => clear(at));

  it('ghost text: shows its first line immediately and grows at its end, line by line, without typing', async () => {
    const [second, third] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    at.answer = ['alpha;\n', second.promise, 'const beta = 2;\n', third.promise, 'const gamma = 3;'];
    await at.edit('grows.ts', 'const first =');
    const seen = await at.watch();
    await at.type(' ');
    await at.shows('alpha;');
    second.resolve();
    await at.shows('alpha;\nconst beta = 2;');
    third.resolve();
    await at.shows('alpha;\nconst beta = 2;\nconst gamma = 3;');
    const texts = await seen.texts();
    for (const [index, text] of texts.entries()) {
      assert.ok(text.startsWith(texts[index - 1] ?? ''), JSON.stringify(texts));
    }
    assert.equal(at.completionRequests().length, 1);
    await at.accept();
    assert.equal(await at.saved('grows.ts'), 'const first = alpha;\nconst beta = 2;\nconst gamma = 3;');
  });

  it('ghost text: remains while it is typed through, without a gap or a request', async () => {
    const whole = 'items.length * factor;\nconst more = total;';
    at.answer = [whole];
    await at.edit('typed.ts', 'const total = ');
    await at.type('0 + ');
    await at.shows(whole);
    const before = at.completionRequests().length;
    const seen = await at.watch();
    for (const [index, key] of [...'items.len'].entries()) {
      await at.type(key);
      await at.shows(whole.slice(index + 1));
    }
    const texts = await seen.texts();
    assert.equal(texts.length, 10, JSON.stringify(texts));
    for (const [index, text] of texts.entries()) assert.equal(text, whole.slice(index), JSON.stringify(texts));
    assert.equal(at.completionRequests().length, before);
    await at.accept();
    assert.equal(await at.saved('typed.ts'), `const total = 0 + ${whole}`);
  });

  it('ghost text: remains when a typed bracket makes the editor indent its line again', async () => {
    at.answer = ['};\n}'];
    await at.edit('closing.ts', 'function f(a: number) {\n  return {\n    a,\n  ');
    await runCommand(at.page, 'Svc: Trigger Completion');
    await at.shows('};\n}');
    const before = at.completionRequests().length;
    const seen = await at.watch();
    await at.type('}');
    await at.shows(';\n}');
    assert.deepEqual(await seen.texts(), ['};\n}', ';\n}']);
    assert.equal(at.completionRequests().length, before);
    await at.accept();
    assert.equal(await at.saved('closing.ts'), 'function f(a: number) {\n  return {\n    a,\n  };\n}');
  });

  it('ghost text: its acceptance corrects the indentation that the editor made after Enter', async () => {
    at.answer = ['\n  };\n}'];
    await at.edit('corrected.ts', 'function f(a: number) {\n  return {\n    a');
    await at.type(',');
    await at.shows('\n  };\n}');
    await at.page.keyboard.press('Enter');
    await at.shows('};\n}');
    await at.accept();
    assert.equal(await at.saved('corrected.ts'), 'function f(a: number) {\n  return {\n    a,\n  };\n}');
  });

  it('ghost text: returns immediately after a wrong character is deleted', async () => {
    at.answer = ['first(second);'];
    await at.edit('deleted.ts', 'const total = ');
    await at.type('0 + ');
    await at.shows('first(second);');
    at.answer = [''];
    const asked = at.completionRequests().length;
    await at.page.keyboard.type('x');
    await at.gone();
    // The request for the wrong character is sent after a pause: it must not be counted for the Backspace.
    while (at.completionRequests().length === asked) await new Promise(setImmediate);
    const before = at.completionRequests().length;
    await at.page.keyboard.press('Backspace');
    await at.shows('first(second);');
    assert.equal(at.completionRequests().length, before);
  });

  it('ghost text: is accepted by word, by line and as a whole', async () => {
    at.answer = ['alpha beta gamma;\nconst next = delta;\nconst last = epsilon;'];
    await at.edit('parts.ts', 'const first = ');
    await at.type('1 + ');
    await at.shows('alpha beta gamma;\nconst next = delta;\nconst last = epsilon;');
    const before = at.completionRequests().length;
    await at.page.keyboard.press('Control+ArrowRight');
    await at.shows(' beta gamma;\nconst next = delta;\nconst last = epsilon;');
    await at.page.keyboard.press('Control+Alt+ArrowRight');
    await at.shows('const next = delta;\nconst last = epsilon;');
    assert.equal(at.completionRequests().length, before);
    await at.accept();
    const saved = await at.saved('parts.ts');
    assert.equal(saved, 'const first = 1 + alpha beta gamma;\nconst next = delta;\nconst last = epsilon;');
  });

  it('ghost text: Tab indents if none is visible and at the start of a line', async () => {
    at.answer = [''];
    await at.edit('indent.ts', 'function f() {\n');
    await at.page.keyboard.press('Tab');
    await at.page.keyboard.type('x');
    assert.match(await at.saved('indent.ts'), /^function f\(\) \{\n[ \t]+x$/);
    at.answer = ['        return 1;\n    }'];
    await at.edit('indent-shown.ts', 'class A {\n    f() {\n');
    await runCommand(at.page, 'Svc: Trigger Completion');
    await at.shows('        return 1;\n    }');
    await at.page.keyboard.press('Tab');
    await at.shows('return 1;\n    }');
    assert.equal(await at.saved('indent-shown.ts'), 'class A {\n    f() {\n        ');
  });

  it('ghost text: Escape hides it at that position until it is requested', async () => {
    at.answer = ['dismissed();'];
    await at.edit('escape.ts', 'const value = ');
    await at.type('a.');
    await at.shows('dismissed();');
    const before = at.completionRequests().length;
    const seen = await at.watch();
    await at.page.keyboard.press('Escape');
    await at.gone();
    await at.page.keyboard.press('ArrowLeft');
    await at.page.keyboard.press('ArrowRight');
    await at.type('d');
    await at.page.keyboard.press('Backspace');
    await at.rests();
    assert.deepEqual((await seen.texts()).slice(1), ['']);
    assert.equal(at.completionRequests().length, before);
    await runCommand(at.page, 'Svc: Trigger Completion');
    await at.shows('dismissed();');
  });

  it('ghost text: continues the selected item of the suggest widget', async () => {
    at.answer = (prompt) => (prompt.endsWith('person.nationality') ? ['.trim();'] : ['']);
    await at.edit('list.ts', "const person = { nationality: 'x' };\nconst x = person.");
    await at.type('nati');
    await at.page.locator('.suggest-widget.visible .monaco-list-row.focused', { hasText: 'nationality' }).waitFor();
    await at.shows('onality.trim();');
    await at.page.keyboard.press('Tab');
    await at.shows('.trim();');
    await at.accept();
    assert.match(await at.saved('list.ts'), /const x = person\.nationality\.trim\(\);$/);
  });

  it('ghost text: does not repeat a bracket that the editor closed', async () => {
    at.answer = ['item.price)'];
    await at.edit('bracket.ts', 'const sum = ');
    await at.type('add(');
    await at.shows('item.price');
    await at.accept();
    assert.equal(await at.saved('bracket.ts'), 'const sum = add(item.price)');
  });
});
