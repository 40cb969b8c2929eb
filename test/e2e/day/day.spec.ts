import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame, Locator, Page } from 'playwright-core';
import { packageExtension } from '../../host/package.ts';
import { inPage, tabInto, tabTo } from '../../host/person.ts';
import { waitUntil } from '../../host/wait-until.ts';
import { actUntil, runCommand, webviewFrame } from '../../host/workbench.ts';
import { showsGhost } from '../completion-harness.ts';
import { startVSCodeHarness, type VSCodeHarness } from '../vscode-harness.ts';
import { type After, Day } from './acts.ts';
import { KEY, startProvider } from './provider.ts';
import { changedFiles, createRepository, git, SECRET } from './repository.ts';

const AVERAGE = 'items: readonly Item[]): number {\n  return total(items) / items.length;\n}';
const CHEAPEST = 'items: readonly Item[]): Item | undefined {\n  return items[0];\n}';
const COUNT = 'items: readonly Item[]): number {\n  return items.length;\n}';
const LONGEST = 'text: str) -> str:\n    return max(words(text), key=len)';
const SYMBOLS = "{\n  EUR: '€',\n  USD: '$',\n};";
/** The editor has closed the bracket already: ghost text stands before and after it. */
const around = (text: string) => text.replace(')', '');

/** The files of the task. */
const TASK = ['AGENTS.md', 'README.md', 'src/receipt.ts', 'src/sum.ts'];

/** `npm run test:day`: all acts, in two looks. The other runs have the main ones. */
const WHOLE = process.env.SVC_DAY === 'whole';
const DARK = { name: 'dark', theme: 'Default Dark Modern', viewport: { width: 1280, height: 800 } };
const LIGHT = { name: 'light', theme: 'Default Light Modern', viewport: { width: 900, height: 700 } };

for (const look of WHOLE ? [DARK, LIGHT] : [DARK])
  describe(`a day of work (${look.name})`, function () {
    // Each act needs those before it.
    this.bail(true);
    const long = (title: string, run: () => Promise<void>) => {
      if (WHOLE) it(title, run);
    };

    let harness: VSCodeHarness;
    let provider: Awaited<ReturnType<typeof startProvider>>;
    let page: Page;
    let day: Day;
    const errors: string[] = [];

    before(async function () {
      this.timeout(600_000);
      provider = await startProvider();
      harness = await startVSCodeHarness({
        vsix: packageExtension().vsix,
        config: null,
        createFolder: createRepository,
        settings: { 'workbench.colorTheme': look.theme },
      });
      page = await harness.open(look.viewport);
      page.on('console', (message) => {
        const of = `${message.text()} ${message.location().url}`;
        if (message.type() === 'error' && /svc\.svc|vscode-webview/.test(of)) errors.push(of);
      });
      page.on('pageerror', (error) => errors.push(String(error.stack)));
      day = new Day(
        {
          page: () => page,
          changed: () => changedFiles(harness.workspace),
          chats: () => provider.chats().length,
          completions: () => provider.completions().length,
          problems: () => [...errors, ...loggedErrors(harness.extensionLogs())],
        },
        look.name,
      );
    });
    after(async () => {
      await harness?.close();
      await provider?.close();
    });

    const press =
      (...keys: readonly string[]) =>
      async () => {
        for (const key of keys) await page.keyboard.press(key);
      };
    const type = (text: string) => () => page.keyboard.type(text, { delay: 30 });
    const then =
      (...acts: readonly (() => Promise<unknown>)[]) =>
      async () => {
        for (const act of acts) await act();
      };
    const read = (path: string) => readFileSync(join(harness.workspace, path), 'utf8');
    const chat = () => webviewFrame(page, '.composer textarea');
    /** In an editor, with at most so many requests for completions. */
    const editor = (completions = 0, more: Partial<After> = {}): After => ({ focus: 'editor', completions, ...more });
    const row = (text: string) => page.locator('.quick-input-list .monaco-list-row', { hasText: text });
    const line = (text: string) => page.locator('.view-line', { hasText: text });
    const ghost = () => page.locator('.ghost-text-decoration, .ghost-text');

    /** Opens a file as a person does: three acts. */
    async function open(name: string, typed = name): Promise<void> {
      const tab = page.locator(`.tab.active[data-resource-name="${name}"]`);
      await day.act(`Quick Open for ${name}`, press('ControlOrMeta+P'), { focus: 'list' });
      await day.act(`the path of ${name}`, type(typed), { focus: 'list', shows: row(name) });
      await day.act(`${name} is open`, press('Enter'), editor(1, { shows: tab }));
    }

    const command = (title: string, after: After) => day.act(title, () => runCommand(page, title), after);

    /** Types until a suggestion is visible, with at most a request for each key: a busy machine pauses between them. */
    async function typeUntilShown(name: string, text: string, shown: string, before: readonly string[] = []) {
      const act = then(press(...before), type(text), () => showsGhost(page, shown));
      await day.act(name, act, editor(text.length + before.length));
    }

    /** Sends what was typed, and waits for the answer. */
    async function sendAndRead(name: string, frame: Frame, answers: number): Promise<void> {
      const shows = frame.locator('.message.assistant[aria-busy="false"]').nth(answers - 1);
      await day.act(name, press('Enter'), { focus: 'chat', chats: 1, shows });
    }

    it('day: from nothing to a model', async () => {
      await page.locator('.statusbar-item', { hasText: 'Set up Svc' }).waitFor();
      await day.act('the palette', press('F1'), { focus: 'list' });
      await day.act('asks for the chat', type('Svc: Open Chat'), { focus: 'list', shows: row('Svc: Open Chat') });
      await day.act('the chat', press('Enter'), { focus: 'chat' });
      const ways = await webviewFrame(page, '.ways');
      const way = ways.getByRole('button', { name: 'Add a provider' });
      await day.act('the way to a provider', () => tabTo(page, way, 'Shift+Tab'), { focus: 'button' });
      await day.act('the form', press('Enter'), { focus: 'field' });
      const form = await webviewFrame(page, '#baseURL');
      await day.act('its name', type('Own'), { focus: 'field' });
      await day.act('the address', () => tabInto(page, form.locator('#baseURL'), provider.url), { focus: 'field' });
      await day.act('the key', () => tabInto(page, form.locator('#key'), KEY), { focus: 'field' });
      await day.act('the listed models', () => tabTo(page, form.locator('#select-all')), { focus: 'field' });
      await day.act('all of them', press('Space'), { focus: 'field' });
      await day.act('the test', () => tabTo(page, form.locator('#test')), { focus: 'button' });
      const works = form.locator('#trial', { hasText: /(?=[\s\S]*Chat works)[\s\S]*Completions work/ });
      await day.act('the test runs', press('Enter'), { focus: 'button', chats: 1, completions: 1, shows: works });
      await day.act('it is saved', press('ControlOrMeta+S'), { focus: 'chat', notified: true });
      await command('Notifications: Clear All Notifications', { focus: 'any', notified: false });
    });

    it('day: three functions: accepted, dismissed, and by word', async () => {
      provider.complete('export function average(', AVERAGE);
      provider.complete('export function cheapest(', CHEAPEST);
      provider.complete('export function count(', COUNT);
      await open('prices.ts');
      await day.act('its end', press('ControlOrMeta+End'), editor(1));
      await typeUntilShown('the first head', 'export function average(', around(AVERAGE), ['Enter']);
      await day.act('accepted', press('Tab'), editor(1));
      await day.act('saved', press('ControlOrMeta+S'), editor(1, { changes: ['src/prices.ts'] }));
      assert.ok(read('src/prices.ts').endsWith(`\nexport function average(${AVERAGE}\n`), read('src/prices.ts'));
      await typeUntilShown('the second head', 'export function cheapest(', around(CHEAPEST), ['Enter', 'Enter']);
      await day.act('dismissed', press('Escape'), editor(1));
      await day.act('other parameters', type('all: readonly Item[]'), editor(20));
      await day.act(
        'a body by hand',
        then(press('End'), type(': Item {'), press('Enter'), type('return all[0]!;')),
        editor(25),
      );
      await typeUntilShown('the third head', 'export function count(', around(COUNT), ['ControlOrMeta+End', 'Enter']);
      await day.act('its first word', press('ControlOrMeta+ArrowRight'), editor(1));
      await day.act('its second word', press('ControlOrMeta+ArrowRight'), editor(1));
      await day.act('the rest of it', press('Tab'), editor(1));
      await day.act('saved again', press('ControlOrMeta+S'), editor(1));
      await command('Svc: Show Completion Cost', { focus: 'button', dialog: true });
      await day.act('the cost is closed', press('Escape'), { focus: 'any' });
      const [, rest = ''] = read('src/prices.ts').split(`average(${AVERAGE}\n\n`);
      const byHand = 'export function cheapest(all: readonly Item[]): Item {\n  return all[0]!;\n}\n';
      assert.equal(rest, `${byHand}\nexport function count(${COUNT}\n`);
    });

    long('day: a second language, a file with CRLF, and a secret file', async () => {
      provider.complete('def longest(', LONGEST);
      provider.complete('export const symbols = ', SYMBOLS);
      await open('words.py');
      await typeUntilShown('a head in Python', 'def longest(', around(LONGEST), [
        'ControlOrMeta+End',
        'Enter',
        'Enter',
      ]);
      await day.act('accepted in Python', press('Tab'), editor(1));
      await day.act('saved in Python', press('ControlOrMeta+S'), editor(1, { changes: ['tools/words.py'] }));
      assert.ok(read('tools/words.py').endsWith(`def longest(${LONGEST}\n`), read('tools/words.py'));
      await open('windows.ts');
      await typeUntilShown('a constant', 'export const symbols = ', SYMBOLS, ['ControlOrMeta+End']);
      await day.act('accepted with CRLF', press('Tab'), editor(1));
      await day.act('saved with CRLF', press('ControlOrMeta+S'), editor(1, { changes: ['src/windows.ts'] }));
      assert.doesNotMatch(read('src/windows.ts'), /[^\r]\n/);
      // Git ignores it, so the list knows it by its path only.
      await open('.env', join(harness.workspace, '.env'));
      await day.act('a secret is typed', then(press('ControlOrMeta+End'), type('OTHER_KEY=abc')), editor());
      await day.act('and taken back', press('ControlOrMeta+Z'), editor());
      await command('View: Revert and Close Editor', editor());
      assert.ok(!provider.sent().includes(SECRET), 'the secret was sent');
    });

    long('day: a rename and an import', async () => {
      provider.complete('import { ', "currency } from './windows';");
      await open('receipt.ts');
      const find = then(press('ControlOrMeta+F'), type('receipt('), press('Escape', 'ArrowLeft', 'ArrowRight'));
      await day.act('the name of a function', find, editor(2));
      await day.act('its new name is asked', press('F2'), { focus: 'field', completions: 1 });
      await day.act('its new name', then(press('ControlOrMeta+A'), type('printed')), { focus: 'field' });
      await day.act('renamed', press('Enter'), editor(1, { shows: line('function printed(') }));
      const importing = then(press('ControlOrMeta+Home', 'End', 'Enter'), type('import { '), () =>
        ghost().first().waitFor(),
      );
      await day.act('an import', importing, editor(12));
      await day.act('the import is accepted', press('Tab'), editor(1));
      await day.act('all is saved', press('ControlOrMeta+S'), editor(1, { changes: ['src/receipt.ts'] }));
      const [first, second] = read('src/receipt.ts').split('\n');
      assert.deepEqual(
        [first, second],
        ["import { type Item, total } from './prices';", "import { currency } from './windows';"],
      );
    });

    long('day: questions about a selection', async () => {
      const lines = press('ControlOrMeta+Home', 'Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown');
      await day.act('three lines are selected', lines, editor(1));
      await day.act('ask about them', press('Control+Shift+Alt+L'), { focus: 'chat' });
      const frame = await chat();
      await day.act('a question', type('What does this import?'), { focus: 'chat' });
      provider.answer({ text: ['It imports `Item` and `total` from [prices.ts](src/prices.ts).'] });
      await sendAndRead('the answer', frame, 1);
      await day.act('a second question', type('And `currency`?'), { focus: 'chat' });
      provider.answer({ text: ['From `windows.ts`.'] });
      await sendAndRead('the second answer', frame, 2);
      await day.act('the question is recalled', press('ArrowUp'), { focus: 'chat' });
      await day.act('and put back', press('ArrowDown'), { focus: 'chat' });
    });

    long('day: mentions, chips, versions and earlier conversations, by keyboard', async () => {
      await command('Svc: New Conversation', { focus: 'chat' });
      const frame = await chat();
      const item = (text: string) => frame.locator('.completions', { hasText: text });
      const named = (name: string) => frame.getByRole('button', { name });
      const answer = (text: string) => frame.locator('.markdown', { hasText: text });
      const inChat = (more: Partial<After> = {}): After => ({ focus: 'chat', ...more });
      await day.act('a mention', type('What is in @receipt'), inChat({ shows: item('receipt.ts') }));
      await day.act('its list is closed', press('Escape'), inChat());
      await day.act('another mention', type(' @prices'), inChat({ shows: item('prices.ts') }));
      const chip = frame.locator('.chips:not(.context) .chip', { hasText: 'prices.ts' });
      await day.act('it is chosen', press('Enter'), inChat({ shows: chip }));
      await day.act('its chip', () => tabTo(page, named('Remove prices.ts'), 'Shift+Tab'), { focus: 'button' });
      await day.act('the chip is removed', press('Delete'), inChat());
      assert.equal(await chip.count(), 0);
      await day.act('the end of the question', type('?'), inChat());
      provider.answer({ text: ['A function that prints.'] });
      await sendAndRead('its answer', frame, 1);
      await day.act('the sent message', () => tabTo(page, named('Edit message'), 'Shift+Tab'), { focus: 'button' });
      await day.act('is edited', press('Enter'), inChat({ shows: frame.locator('.edit-box textarea') }));
      await day.act('with other words', then(press('End'), type(' In short.')), inChat());
      provider.answer({ text: ['It prints.'] });
      await day.act('and sent again', press('Enter'), inChat({ chats: 1, shows: answer('It prints.') }));
      await day.act('the other version', () => tabTo(page, named('Previous version'), 'Shift+Tab'), {
        focus: 'button',
      });
      await day.act('is shown', press('Enter'), { focus: 'any', shows: answer('A function that prints.') });
      await day.act('a command', type('/expl'), inChat({ shows: item('explain') }));
      await day.act('its list is left', press('Escape'), inChat());
      const back = Array.from({ length: '/expl'.length }, () => 'Backspace');
      await day.act('and its text deleted', press(...back), inChat());
      await command('Svc: Show Conversations', { focus: 'list', shows: row('What does this import?') });
      await day.act('the list is closed', press('Escape'), inChat());
      await command('Svc: Choose Tools', { focus: 'list' });
      await day.act('the tools are kept', press('Escape'), inChat());
      await command('Svc: Show Conversations', { focus: 'list' });
      await day.act('an earlier one', type('import'), { focus: 'list', shows: row('What does this import?') });
      await day.act('is opened', press('Enter'), inChat({ shows: answer('From windows.ts.') }));
      const found = (count: string) => frame.getByRole('search').getByText(count);
      await day.act('a search', then(press('ControlOrMeta+F'), type('windows')), {
        focus: 'field',
        shows: found('1 of 1'),
      });
      await day.act('for another word', then(press('ControlOrMeta+A'), type('import')), {
        focus: 'field',
        shows: found('1 of 2'),
      });
      await day.act('its next place', press('Enter'), { focus: 'field', shows: found('2 of 2') });
      await day.act('the search is closed', press('Escape'), inChat());
    });

    long('day: an instruction changes a line, code is explained, and a plan becomes work', async () => {
      await open('prices.ts');
      const find = then(press('ControlOrMeta+F'), type('return all'), press('Escape', 'Home', 'Shift+End'));
      await day.act('a line is selected', find, editor(2));
      await day.act('an instruction for it', press('Control+Shift+Alt+E'), { focus: 'list', completions: 1 });
      await day.act('what to do', type('Refuse an empty list'), { focus: 'list' });
      provider.answer({
        text: ['```ts\nconst [first] = all;\nif (!first) throw new Error("No items.");\nreturn first;\n```'],
      });
      await day.act('the change is in its place', press('Enter'), editor(1, { chats: 1, shows: line('No items.') }));
      const lens = page.locator('.codelens-decoration a', { hasText: 'Accept' });
      // The key is known some time after the change is drawn.
      const accept = () => actUntil(page, () => page.keyboard.press('Alt+Enter'), lens, true);
      await day.act('the change is accepted', accept, editor(1));
      const body = '  const [first] = all;\n  if (!first) throw new Error("No items.");\n  return first;\n}\n';
      await waitUntil(
        'the saved change',
        () => read('src/prices.ts'),
        (text) => text.includes(`all: readonly Item[]): Item {\n${body}`),
      );
      const top = press('ControlOrMeta+Home', 'Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown');
      await day.act('lines to explain', top, editor(1));
      const frame = await chat();
      const answer = (text: string) => frame.locator('.markdown', { hasText: text });
      provider.answer({ text: ['An item has a name and a price in cents.'] });
      await command('Svc: Explain Code', { focus: 'chat', chats: 1, shows: answer('a price in cents') });
      await command('Svc: New Conversation', { focus: 'chat' });
      const plan = frame.getByRole('button', { name: 'Plan' });
      await day.act('to plan mode', () => tabTo(page, plan), { focus: 'button' });
      await day.act('it is on', press('Space'), { focus: 'button', shows: frame.locator('.plan.on') });
      await day.act('what to plan', type('Split the receipt into lines.'), { focus: 'chat' });
      provider.answer({ text: ['1. Read `receipt.ts`.\n2. Split it.'] });
      await sendAndRead('the plan', frame, 1);
      const start = frame.getByRole('button', { name: 'Start the work' });
      await day.act('to its start', () => tabTo(page, start, 'Shift+Tab'), { focus: 'button' });
      provider.answer({ text: ['All is split.'] });
      await day.act('the work', press('Enter'), { focus: 'any', chats: 1, shows: answer('All is split.') });
      await day.act('the next message', type('Thanks'), { focus: 'chat', shows: frame.locator('.plan:not(.on)') });
      await day.act('is deleted', press(...Array.from('Thanks', () => 'Backspace')), { focus: 'chat' });
    });

    it('day: a task that changes four files and runs a test, with a denial and an undo', async () => {
      await command('Svc: Open Chat', { focus: 'chat' });
      const frame = await chat();
      const before = TASK.filter((path) => path !== 'src/sum.ts').map((path) => [path, read(path)]);
      const undone = TASK.filter((path) => !changedFiles(harness.workspace).includes(path));
      provider.answer(
        { tools: ['src/receipt.ts', 'README.md', 'AGENTS.md'].map((path) => call('read_file', { path })) },
        {
          tools: [
            call('edit_file', { path: 'src/receipt.ts', old_text: 'Total ${', new_text: 'Sum ${' }),
            call('edit_file', {
              path: 'README.md',
              old_text: 'Prints receipts.',
              new_text: 'Prints receipts and sums.',
            }),
            call('create_file', { path: 'src/sum.ts', content: 'export const sum = true;\n' }),
            call('edit_file', { path: 'AGENTS.md', old_text: 'in cents.', new_text: 'in cents. Sums too.' }),
          ],
        },
        { tools: [call('run_in_terminal', { command: 'node test.js' })] },
        { tools: [call('run_in_terminal', { command: 'git push' })] },
        { text: ['Done. The tests pass.'] },
      );
      await day.act('a task', type('Call it a sum everywhere, then run the tests.'), { focus: 'chat' });
      const waiting = frame.getByText('4 calls need approval');
      await day.act('four changes wait', press('Enter'), { focus: 'any', chats: 2, shows: waiting });
      // In view: until then, the key only shows it.
      const asking = (has: Locator) => frame.locator('.tool.asking:focus', { has });
      const rules = asking(frame.getByRole('button', { name: 'Allow once' }));
      await day.act(
        'three are allowed, and the rules wait',
        // What the changes add to the transcript moves the card.
        then(press('Control+Shift+Enter'), () => frame.getByText('3 files changed').waitFor()),
        { focus: 'any', shows: rules, changes: TASK.filter((path) => path !== 'AGENTS.md') },
      );
      const commandField = frame.getByRole('textbox', { name: 'Command' });
      await day.act('the rules are allowed, and the test waits', press('Control+Enter'), {
        focus: 'any',
        chats: 1,
        shows: asking(commandField),
        changes: TASK,
      });
      await day.act(
        'the test runs, and a push waits',
        then(press('Control+Enter'), () =>
          waitUntil(
            'the push',
            () => commandField.last().inputValue(),
            (value) => value === 'git push',
          ),
        ),
        { focus: 'any', chats: 1 },
      );
      await day.act(
        'the push is denied',
        then(() => tabTo(page, frame.getByRole('button', { name: 'Deny', exact: true })), press('Enter')),
        { focus: 'any', chats: 1, shows: frame.locator('.markdown', { hasText: 'The tests pass.' }) },
      );
      await day.act('to the changes', () => tabTo(page, frame.getByRole('button', { name: 'Undo all' }), 'Shift+Tab'), {
        focus: 'button',
      });
      await day.act('all is undone', press('Enter'), {
        focus: 'any',
        restores: undone,
        shows: frame.getByText('4 files: changes undone'),
      });
      for (const [path = '', text] of before) assert.equal(read(path), text);
      await day.act('to Redo', () => tabTo(page, frame.getByRole('button', { name: 'Redo' }), 'Shift+Tab'), {
        focus: 'button',
      });
      await day.act('all is done again', press('Enter'), { focus: 'any', changes: TASK });
    });

    it('day: a commit', async () => {
      provider.answer({ text: ['Here is the message:\n\n```\nfeat: print a sum\n```'] });
      await command('Svc: Write Commit Message', { focus: 'any', chats: 1 });
      await day.act('Source Control', press('Control+Shift+G'), {
        focus: 'any',
        shows: page.locator('.scm-editor .view-line', { hasText: 'feat: print a sum' }),
      });
      await command('Git: Commit All', { focus: 'any', restores: 'all' });
      assert.equal(git(harness.workspace, 'log', '-1', '--format=%s'), 'feat: print a sum\n');
      const sent = { focus: 'editor', shows: line('completions and next edits') } as const;
      await command('Svc: Where My Code Went', sent);
      const [rows = ''] = await page.locator('.editor-instance .view-lines').last().allInnerTexts();
      for (const purpose of ['chat', 'completions', 'lists'])
        assert.match(rows.replaceAll('\u00a0', ' '), new RegExp(`127\\.0\\.0\\.1:\\d+ +${purpose}`));
      await day.act('it is closed', press('ControlOrMeta+F4'), { focus: 'any' });
    });

    it('day: a reload in the middle of an answer', async () => {
      await command('Svc: New Conversation', { focus: 'chat' });
      const release = provider.hold();
      provider.answer({ text: ['The beginning', ' and the end.'] });
      await day.act('a long question', type('Explain the receipt.'), { focus: 'chat' });
      const frame = await chat();
      await day.act('an answer begins', press('Enter'), {
        focus: 'chat',
        chats: 1,
        shows: frame.locator('.markdown', { hasText: 'The beginning' }),
      });
      await day.act(
        'the window is loaded again',
        async () => {
          await page.reload();
          await page.locator('.statusbar-item', { hasText: 'Svc' }).first().waitFor();
          release();
        },
        { focus: 'any' },
      );
      await command('Svc: Open Chat', { focus: 'chat' });
      const again = await webviewFrame(page, '.message.assistant');
      await day.act('what was there is there', async () => undefined, {
        focus: 'chat',
        shows: again.locator('.markdown', { hasText: 'The beginning' }),
      });
    });

    long('day: the provider is turned off and on, and another model is chosen', async () => {
      await command('Svc: Open Configuration (svc.jsonc)', { focus: 'editor' });
      const off = then(press('ControlOrMeta+Home', 'ArrowRight', 'Enter'), () =>
        page.keyboard.insertText('"disabled_providers": ["own"],'),
      );
      await day.act('a provider is turned off', off, editor());
      await day.act(
        'it is off',
        press('ControlOrMeta+S'),
        editor(0, { shows: page.locator('.statusbar-item', { hasText: 'Set up Svc' }) }),
      );
      await day.act(
        'it is turned on again',
        press('ControlOrMeta+Shift+K', 'ControlOrMeta+S'),
        editor(0, { shows: page.locator('.statusbar-item', { hasText: /^\s*Svc$/ }) }),
      );
      await command('View: Close Editor', { focus: 'any' });
      await command('Svc: Choose Chat Model', { focus: 'list' });
      await day.act('a model by its name', type('large-chat'), { focus: 'list', shows: row('own/large-chat') });
      await day.act('it is chosen', press('Enter'), { focus: 'any' });
      await command('Svc: New Conversation', { focus: 'chat' });
      const frame = await chat();
      await day.act('a word to it', type('Hello'), { focus: 'chat' });
      provider.answer({ text: ['Hello from the large model.'] });
      await sendAndRead('its answer', frame, 1);
      assert.equal(provider.chats().at(-1)?.body.model, 'large-chat');
    });

    it('day: the bill, the gateway with its page, and an agent from outside', async () => {
      await command('Svc: Start Local Gateway', { focus: 'any', notified: true });
      await command('Notifications: Clear All Notifications', { focus: 'any', notified: false });
      await command('Svc: Copy Gateway Environment for Other Tools', { focus: 'any' });
      const text = await waitUntil(
        'the variables in the clipboard',
        () => inPage(page, 'only a program reads the clipboard', () => navigator.clipboard.readText()),
        (copied) => copied.includes('ANTHROPIC_API_KEY'),
      );
      const variables = Object.fromEntries(
        text
          .trim()
          .split('\n')
          .map((each) => each.replace('export ', '').split(/=(.*)/s)),
      );
      provider.answer({ text: ['Hello from outside.'] });
      const body = JSON.stringify({ model: 'own/large-chat', messages: [{ role: 'user', content: 'Hi' }] });
      const headers = { authorization: `Bearer ${variables.OPENAI_API_KEY}`, 'content-type': 'application/json' };
      await day.act(
        'an agent from outside',
        async () => {
          const answer = await fetch(`${variables.OPENAI_BASE_URL}/chat/completions`, {
            method: 'POST',
            headers,
            body,
          });
          assert.match(await answer.text(), /Hello from outside\./);
        },
        { focus: 'any', chats: 1 },
      );
      await command('Svc: Open Gateway Usage', { focus: 'editor', shows: line('own/large-chat') });
      await day.act('it is closed without a question', press('ControlOrMeta+F4'), { focus: 'any' });
      await command('Svc: Stop Local Gateway', { focus: 'any' });
    });
  });

/** Lines about errors in the log of the extension. */
function loggedErrors(logs: Readonly<Record<string, string>>): readonly string[] {
  const own = Object.entries(logs).filter(([name]) => name.endsWith('Svc.log'));
  return own.flatMap(([, text]) => text.split('\n').filter((each) => each.includes('[error]')));
}

let calls = 0;
/** A tool call with a new id. */
function call(name: string, input: unknown) {
  calls += 1;
  return { id: `day${calls}`, name, arguments: [JSON.stringify(input)] };
}
