import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { inPage } from '../host/person.ts';
import { runCommand } from '../host/workbench.ts';
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

/** Holds back the parts of an editor that VS Code creates when a window has nothing else to do, as a busy window does. */
async function holdIdle(page: Page): Promise<{ readonly release: () => Promise<void> }> {
  await inPage(page, 'a window is busy when its machine is', () => {
    const idle = window.requestIdleCallback.bind(window);
    const held: IdleRequestCallback[] = [];
    window.requestIdleCallback = (run, options) =>
      /_instantiate/.test(`${run}`) ? held.push(run) : idle(run, options);
    const releaseIdle = () => {
      window.requestIdleCallback = idle;
      for (const run of held) idle(run);
      return held.length;
    };
    Object.assign(window, { releaseIdle });
  });
  return {
    release: async () => {
      const held: number = await inPage(page, 'see above', () => Reflect.get(window, 'releaseIdle')());
      assert.ok(held > 0, 'VS Code creates the parts of an editor in another way: nothing was held back.');
    },
  };
}

describe('completions in the editor', () => {
  let at: CompletionHarness;

  before(async () => {
    at = await startCompletionHarness({
      settings: {
        'svc.completion.exclude': ['confidential/', '*.private.ts'],
        // Requests are counted: one in advance comes some time after the suggestion.
        'svc.completion.speculation': 'off',
        // Its status item creates VS Code's part for inline completions as soon as an editor is open.
        'chat.disableAIFeatures': true,
        '[css]': { 'files.insertFinalNewline': true },
        // The list opens as it does for a user.
        '[python]': { 'editor.quickSuggestions': { other: 'offWhenInlineCompletions' } },
      },
      // Before the window opens: VS Code reports a file that is written later some time later.
      createFolder: (folder) => writeFileSync(join(folder, '.gitignore'), 'ignored.ts\n'),
    });
  });
  after(() => at?.close());
  afterEach(() => clear(at));

  describe('ghost text while typing', () => {
    it('ghost text: answers the first key of a window, also before VS Code is ready for it', async () => {
      at.answer = ['first;'];
      // The first editor of the window is opened here: VS Code creates the parts of an editor when nothing else is to do.
      const idle = await holdIdle(at.page);
      await at.edit('early.ts', 'const early =');
      await at.type(' ');
      await at.shows('first;');
      await idle.release();
      await at.accept();
      assert.equal(await at.saved('early.ts'), 'const early = first;');
    });

    it('ghost text: answers the first key of an editor that is split, also before VS Code is ready for it', async () => {
      at.answer = ['first;'];
      await at.edit('split.ts', 'const left =');
      await at.type(' ');
      await at.shows('first;');
      await at.accept();
      const idle = await holdIdle(at.page);
      await at.page.keyboard.press('ControlOrMeta+\\');
      await at.page.locator('.editor-group-container').nth(1).locator('.monaco-editor.focused').waitFor();
      at.answer = ['second;'];
      await at.type('\nconst right =');
      await at.type(' ');
      await at.shows('second;');
      await idle.release();
      await at.accept();
      assert.equal(await at.saved('split.ts'), 'const left = first;\nconst right = second;');
      await clear(at);
    });

    it('ghost text: shows its first line immediately and grows at its end, line by line, without typing', async () => {
      const [second, third] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      at.answer = ['alpha;\n', second.promise, 'const beta = 2;\n', third.promise, 'const gamma = 3;'];
      await at.edit('grows.ts', 'const first =');
      const before = at.completionRequests().length;
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
      assert.equal(at.completionRequests().length, before + 1);
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

    it('ghost text: does not give back what was just deleted, so that Tab indents, until it is requested', async () => {
      await at.edit('deleted-line.ts', 'function f(a: number) {\n  return a * 2;');
      at.answer = ['return a * 2;'];
      const asked = at.completionRequests().length;
      await at.page.keyboard.press('Shift+Home');
      const seen = await at.watch();
      await at.page.keyboard.press('Backspace');
      while (at.completionRequests().length === asked) await new Promise(setImmediate);
      await at.rests();
      assert.deepEqual(await seen.texts(), ['']);
      await at.page.keyboard.press('Tab');
      assert.equal(await at.saved('deleted-line.ts'), 'function f(a: number) {\n    ');
      await runCommand(at.page, 'Svc: Trigger Completion');
      await at.shows('return a * 2;');
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
      at.answer = (prompt) => (prompt.endsWith('= nationality') ? ['.strip()'] : ['']);
      await at.edit('list.py', "nationality = 'x'\nx = ");
      await at.type('nati');
      await at.page.locator('.suggest-widget.visible .monaco-list-row.focused', { hasText: 'nationality' }).waitFor();
      await at.shows('onality.strip()');
      await at.page.keyboard.press('Tab');
      await at.shows('.strip()');
      await at.accept();
      assert.match(await at.saved('list.py'), /^x = nationality\.strip\(\)$/m);
    });

    it('ghost text: that comes after VS Code has opened its list takes the second Tab, and the first does not change the text', async () => {
      const late = Promise.withResolvers<void>();
      const rest = 'Price = total / count';
      at.answer = (prompt) => [late.promise, prompt.endsWith('average') ? rest : `age${rest}`];
      await at.edit('late.py', 'average = 2\n');
      const row = at.page.locator('.suggest-widget.visible .monaco-list-row', { hasText: 'average' });
      await at.type('aver');
      // In a new window, VS Code may list “aver” before it.
      await row.waitFor();
      await at.type('age');
      await row.and(at.page.locator('.focused')).waitFor();
      late.resolve();
      await at.shows(rest);
      await at.page.keyboard.press('Tab');
      await at.page.locator('.suggest-widget.visible').waitFor({ state: 'detached' });
      await at.shows(rest);
      await at.accept();
      assert.equal(await at.saved('late.py'), `average = 2\naverage${rest}`);
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

  describe('ghost text in different files', () => {
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
      // The editor closes the quote, which is drawn between the two parts.
      let rest = '"🎉 مرحبا e\u0301;';
      for (const character of ['"', '🎉', ' ', 'م']) {
        await at.page.keyboard.insertText(character);
        rest = rest.slice(character.length);
        // VS Code inserts a text that is not of keys where it has drawn the caret last.
        await at.shows(rest);
      }
      assert.equal(at.completionRequests().length, before);
      await at.accept();
      assert.equal(await at.saved('through.ts'), 'const t = s + "🎉 مرحبا e\u0301";');
    });
  });

  describe('content and number of completion requests', () => {
    it('completion requests: contain no file with secrets, ignored by Git or excluded by a setting, not even as context', async () => {
      const before = at.completionRequests().length;
      at.answer = ['leaked'];
      for (const name of ['.env', 'key.pem', 'ignored.ts', 'plan.private.ts']) {
        await at.edit(name, 'const sesame = openDoor(');
        await at.type('abc + ');
        await at.page.locator('.statusbar-item[aria-label^="Svc: No completions here"]').waitFor();
        await runCommand(at.page, 'Svc: Trigger Completion');
        await runCommand(at.page, 'File: Save');
      }
      assert.deepEqual(at.completionRequests().slice(before), []);
      at.answer = ['fine;'];
      await at.edit('open.ts', 'const sesame = openDoor();\nconst ok = ');
      await at.type('sesame + ');
      await at.shows('fine;');
      const bodies = at
        .completionRequests()
        .slice(before)
        .map(({ bytes }) => bytes.toString('utf8'));
      assert.ok(bodies.length > 0);
      for (const body of bodies) assert.doesNotMatch(body, /abc \+|\.env|key\.pem|ignored\.ts|private/);
    });

    it('completion requests: none for a line end that a save adds before the first key', async () => {
      const before = at.completionRequests().length;
      await at.edit('style.css', 'a { color:');
      await at.page.keyboard.press('ControlOrMeta+S');
      await at.page.locator('.view-lines .view-line').nth(1).waitFor();
      // For longer than a request would take to come.
      for (let moves = 0; moves < 10; moves++) {
        await at.page.keyboard.press('ArrowLeft', { delay: 40 });
        await at.page.keyboard.press('ArrowRight', { delay: 40 });
      }
      assert.equal(at.completionRequests().length, before);
    });

    it('completion requests: a key is replaced in the request and restored in the answer', async () => {
      const key = `sk-${'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7'}`;
      at.answer = (prompt) => [`connect("${/token = "([^"]+)"/.exec(prompt)?.[1] ?? ''}");`];
      await at.edit('keyed.ts', `const token = "${key}";\nconst link = `);
      await at.type('await ');
      await at.shows(`connect("${key}");`);
      assert.ok(!at.completionRequests().some(({ bytes }) => bytes.toString('utf8').includes(key)));
    });

    it('completion requests: missing credit causes at most two requests for thirty keys, no popup and a status', async () => {
      at.status = 402;
      await at.edit('credit.ts', 'const value = ');
      const before = at.completionRequests().length;
      await at.page.keyboard.type('someCall(other, third) + more +', { delay: 60 });
      await at.page.locator('.statusbar-item.warning-kind', { hasText: 'Svc' }).waitFor();
      const requests = at.completionRequests().length - before;
      assert.ok(requests >= 1 && requests <= 2, `${requests} requests`);
      assert.equal(await at.page.locator('.notification-toast').count(), 0);
      at.status = 200;
      at.answer = ['again;'];
      await at.page.keyboard.press('Enter');
      await at.type('x = ');
      await runCommand(at.page, 'Svc: Completion Menu');
      await at.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Try again' }).click();
      await at.shows('again;');
    });
  });
});
