import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { actUntil, findNotification, LOOK_AGAIN, runCommand, typeInList } from '../host/workbench.ts';
import { clear } from './completion-harness.ts';
import { type NextEditHarness, startNextEditHarness } from './next-edit-harness.ts';

const RENAME = 'let userName = 1\nprint(userName)\n';
const STATUS = '.statusbar-item[id$="svc.completion"]';

describe('settings and surroundings of next edits', () => {
  let at: NextEditHarness;

  before(async () => {
    at = await startNextEditHarness();
  });
  after(() => at?.close());
  afterEach(async () => {
    await clear(at);
    at.removeFiles();
    await use({});
  });

  let uses = 0;
  /** Settings of the workspace. They are in use when the title of the window is: VS Code is told about a changed file. */
  const use = async (settings: Readonly<Record<string, unknown>>) => {
    uses += 1;
    const title = `settings ${uses}`;
    mkdirSync(join(at.vscode.workspace, '.vscode'), { recursive: true });
    const content = JSON.stringify({ ...settings, 'window.title': title });
    writeFileSync(join(at.vscode.workspace, '.vscode', 'settings.json'), content);
    await at.page.waitForFunction((wanted) => document.title.includes(wanted), title, LOOK_AGAIN);
  };
  const marks = () =>
    at.page.locator('.editor-instance .margin [class*="gutter"], .editor-instance .cgmr[class*="ced-"]');

  const OFF: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    '`svc.nextEdit.show` is `off`': { 'svc.nextEdit.show': 'off' },
    'completions are off': { 'svc.completion.enabled': false },
    'their language is off': { 'svc.completion.languages': { toy: false } },
    'a pattern excludes their file': { 'svc.completion.disabledGlobs': ['**/off*'] },
    'their file must not be sent': { 'svc.completion.exclude': ['off*'] },
  };
  for (const [name, settings] of Object.entries(OFF)) {
    it(`next edits: are not offered if ${name}`, async () => {
      await use(settings);
      const file = `off${Object.keys(OFF).indexOf(name)}.toy`;
      await at.openName(file, RENAME);
      await at.settles();
      await at.press('ControlOrMeta+Backspace');
      await at.type('userId');
      await at.settles();
      await at.plain();
      await at.press('Tab');
      assert.match(await at.saved(file), /^let userId\s+ = 1\nprint\(userName\)/);
    });
  }

  it('next edits: show only a mark if `svc.nextEdit.show` is `subtle`, until the second key is pressed', async () => {
    await use({ 'svc.nextEdit.show': 'subtle' });
    await at.rename('subtle.toy', RENAME, 'userId');
    await marks().first().waitFor();
    assert.deepEqual(await at.drawn(), ['let userId = 1', 'print(userName)', '']);
    await at.settles();
    await at.press('Alt+L');
    await at.draws('let userId = 1{+Tab: rename to userId+}', 'print([-userName-]{+userId+})');
    await at.armed();
    await at.press('Tab');
    await at.plain();
    assert.equal(await at.saved('subtle.toy'), 'let userId = 1\nprint(userId)\n');
  });

  it('next edits: are stated by the status bar item', async () => {
    await at.rename('status.toy', RENAME, 'userId');
    await at.attached('Tab: rename to userId');
    await at.page.locator(`${STATUS}[aria-label*="Next edit: rename to userId"]`).waitFor();
  });

  it('next edits: keep the line ends of a file with CRLF', async () => {
    const text = 'if (b) {\n  first(b);\n  second();\n}';
    const fix = { title: 'Use b', range: [0, 0, 2, 1], text } as const;
    await at.breaks('crlf.toy', 'if (a) {\r\n  first();\r\n}\r\nlet x = brok', fix);
    await at.attached('Tab: Use b');
    await at.armed();
    await at.press('Tab');
    await at.plain();
    assert.equal(await at.saved('crlf.toy'), 'if (b) {\r\n  first(b);\r\n  second();\r\n}\r\nlet x = broken');
  });

  it('next edits: are accepted with Tab also if the clock of the machine is set back', async () => {
    await at.breaks('clock.toy', 'let x = brok', { title: 'Use b', range: [0, 4, 0, 5], text: 'b' });
    await at.attached('Tab: Use b');
    await at.armed();
    await at.press('Tab');
    await at.plain();
    assert.equal(await at.saved('clock.toy'), 'let b = broken');
  });

  it('next edits: leave Tab to the ghost text of another extension', async () => {
    await at.rename('other.toy', RENAME, 'userId');
    await at.attached('Tab: rename to userId');
    await at.press('End');
    await at.type(' // ');
    await at.shows('of the toy');
    await at.settles();
    await at.press('Tab');
    await at.gone();
    assert.match(await at.saved('other.toy'), /^let userId = 1 \/\/ of the toy\nprint\(userName\)/);
  });

  it('next edits: leave Tab to a snippet', async () => {
    const snippets = { Pair: { prefix: 'pair', body: '${1:one} ${2:two}' } };
    mkdirSync(join(at.vscode.workspace, '.vscode'), { recursive: true });
    writeFileSync(join(at.vscode.workspace, '.vscode', 'toy.code-snippets'), JSON.stringify(snippets));
    await at.rename('snippet.toy', `${RENAME}\n`, 'userId');
    await at.attached('Tab: rename to userId');
    await at.press('ControlOrMeta+End');
    const row = at.page.locator('.quick-input-list .monaco-list-row.focused', { hasText: 'Pair' });
    // A list that was opened before VS Code has read the file lacks it.
    const list = async () => {
      await runCommand(at.page, 'Snippets: Insert Snippet');
      await typeInList(at.page, 'Pair');
    };
    await actUntil(at.page, list, row);
    await at.press('Enter');
    await at.page.locator('.view-line', { hasText: 'one two' }).waitFor();
    await at.type('a');
    await at.settles();
    await at.press('Tab');
    await at.type('b');
    assert.match(await at.saved('snippet.toy'), /print\(userName\)\n+a b$/);
    rmSync(join(at.vscode.workspace, '.vscode', 'toy.code-snippets'));
  });
});

describe('next edits beside those of Copilot', () => {
  const SETTING = 'github.copilot.nextEditSuggestions.enabled';
  let at: NextEditHarness;

  before(async () => {
    const properties = { [SETTING]: { type: 'boolean', default: true } };
    const copilot = { publisher: 'GitHub', name: 'copilot', displayName: 'GitHub Copilot' };
    at = await startNextEditHarness({}, [
      { ...copilot, contributes: { configuration: { title: 'Copilot', properties } }, developed: true },
    ]);
  });
  after(() => at?.close());
  afterEach(() => clear(at));

  const rows = () => at.page.locator('.quick-input-list .monaco-list-row');

  it('next edits: are silent while Copilot shows some, and the status menu says how to change it', async () => {
    await at.openName('copilot.toy', RENAME);
    await at.settles();
    await at.press('ControlOrMeta+Backspace');
    await at.type('userId');
    await at.settles();
    await at.plain();
    await at.page.locator(STATUS).click();
    await rows().filter({ hasText: 'Copilot shows next edits too' }).click();
    const notice = await findNotification(at.page, 'Copilot and Svc both show next edits');
    await notice.locator('.monaco-button', { hasText: 'Turn Off Copilot’s Next Edits' }).click();
    await at.press('ControlOrMeta+Home');
    await at.rename('alone.toy', RENAME, 'userId');
    await at.attached('Tab: rename to userId');
  });
});
