import assert from 'node:assert/strict';
import { inElement, inPage } from '../host/person.ts';
import { COMPLETE, MODEL, type Panel, type PanelHost, snapshot, startPanelHost, transcriptOf } from './panel-page.ts';

const answer = (text: string) =>
  snapshot(
    transcriptOf(
      { parts: [{ type: 'text', text: 'Q' }] },
      { parts: [{ type: 'text', text }], model: MODEL, ending: COMPLETE },
    ),
  );

describe('text of an answer', () => {
  let host: PanelHost;
  let panel: Panel;
  before(async () => {
    host = await startPanelHost();
  });
  after(() => host.close());
  beforeEach(async () => {
    panel = await host.open();
  });
  afterEach(() => panel.close());

  const html = () => panel.page.locator('.markdown').first().innerHTML();

  it('link: the tooltip is the address and not a text of the model', async () => {
    await panel.tell(answer('[docs](https://docs.example/a "your bank")'));
    assert.equal(await panel.page.locator('.markdown a').getAttribute('title'), 'https://docs.example/a');
  });

  it('paths: files of the workspace become links that open at the line, other words do not', async () => {
    await panel.tell(
      answer('See `src/app.ts:12`, src/b.ts#L3, [the list](src/list.ts) and `npm.run`, e.g. `no/such.ts`.'),
    );
    const [check] = await panel.sentMessages('check-paths');
    assert.deepEqual(check?.paths, ['src/app.ts:12', 'src/list.ts', 'npm.run', 'no/such.ts', 'src/b.ts#L3', 'e.g']);
    await panel.tell({
      type: 'paths',
      paths: ['src/app.ts:12', 'src/list.ts', 'npm.run', 'no/such.ts', 'src/b.ts#L3', 'e.g'],
      found: ['src/app.ts:12', 'src/list.ts', 'src/b.ts#L3'],
    });
    const links = panel.page.getByRole('link');
    assert.deepEqual(await links.allTextContents(), ['src/app.ts:12', 'src/b.ts#L3', 'the list']);
    await links.first().click();
    await links.nth(1).focus();
    await panel.page.keyboard.press('Enter');
    await links.nth(2).click();
    const opened = await panel.sentMessages('open-path');
    assert.deepEqual(
      opened.map(({ path }) => path),
      ['src/app.ts:12', 'src/b.ts#L3', 'src/list.ts'],
    );
    assert.deepEqual(await panel.sentMessages('open-link'), []);
  });

  it('HTML: line breaks, keys, sub- and superscripts are drawn, with attributes they are text', async () => {
    await panel.tell(
      answer('a<br>b <kbd>Ctrl</kbd> H<sub>2</sub>O x<sup>2</sup> <kbd class="primary">no</kbd> <b>no</b>'),
    );
    const text = await html();
    for (const tag of ['<br>', '<kbd>Ctrl</kbd>', '<sub>2</sub>', '<sup>2</sup>']) assert.ok(text.includes(tag), tag);
    assert.match(text, /&lt;kbd class="primary"&gt;no/);
    assert.match(text, /&lt;b&gt;no&lt;\/b&gt;/);
  });

  it('formulas: are drawn as MathML, prices and mistakes stay text', async () => {
    await panel.tell(
      answer('Area $\\pi r^2$ and \\(a_1\\).\n\n$$\n\\frac{a}{b}\n$$\n\nIt costs $5 and $10. Wrong: $\\frac{a$ end.'),
    );
    await panel.page.waitForFunction(() => document.querySelectorAll('.markdown math').length === 3);
    assert.equal(await panel.page.locator('.markdown .math.display math[display=block]').count(), 1);
    const text = await panel.page.locator('.markdown').innerText();
    assert.match(text, /It costs \$5 and \$10\./);
    assert.match(text, /Wrong: \$\\frac\{a\$ end/);
  });

  it('formulas: no macro of a model loads, runs or fills the page', async () => {
    const hostile = [
      '$\\href{javascript:alert(1)}{x}$',
      '$\\includegraphics{https://tracker.example/a.png}$',
      '$\\def\\a{\\a\\a}\\a$',
      '$\\htmlStyle{position:fixed}{x}$',
      '$\\rule{99999em}{99999em}$',
    ];
    await panel.tell(answer(hostile.join('\n\n')));
    await panel.page.waitForFunction(() => document.querySelectorAll('.math:not(.drawn)').length === 0);
    assert.deepEqual(host.strangers, []);
    assert.equal(await panel.page.locator('.markdown :is(a, img, [style])').count(), 0);
  });

  it('diagram: is drawn as an image above its source, without requests', async () => {
    await panel.tell(answer('```mermaid\nflowchart LR\n  A[Start] --> B{Done?}\n  B -->|yes| C[End]\n```'));
    const image = panel.page.locator('.diagram img');
    await image.waitFor();
    const box = await image.boundingBox();
    assert.ok(box && box.width > 100 && box.height > 30, JSON.stringify(box));
    const source = decodeURIComponent((await image.getAttribute('src')) ?? '');
    assert.match(source, /^data:image\/svg\+xml.*Start/s);
    assert.deepEqual(host.strangers, []);
  });

  it('diagram: script, links and pictures in a source do nothing, and a mistake is named', async () => {
    const hostile =
      '```mermaid\nflowchart LR\n  A["<img src=https://tracker.example/x onerror=alert(1)>"] --> B\n  click A "javascript:alert(1)"\n```';
    await panel.tell(answer(`${hostile}\n\n\`\`\`mermaid\nflowchart LR\n  A --\n\`\`\``));
    await panel.page.locator('.diagram.failed').waitFor();
    await panel.page.locator('.diagram img').waitFor();
    assert.match(await panel.page.locator('.diagram.failed').innerText(), /The diagram can’t be drawn: .*line \d/s);
    assert.deepEqual(host.strangers, []);
    assert.equal(await panel.page.locator('.diagram a, .diagram script').count(), 0);
  });

  it('icons: the shortened font is valid and has each icon', async () => {
    await panel.tell(answer('```ts\na();\n```'));
    await panel.page.locator('.code-bar .codicon').first().waitFor();
    const found = await inPage(panel.page, 'fonts and pseudo-elements are no text', async () => {
      const [font] = await document.fonts.load('16px codicon', '\ueb99');
      const icons = [...document.querySelectorAll('.codicon')];
      const missing = icons.filter((icon) => getComputedStyle(icon, '::before').content === 'none');
      return { status: font?.status, icons: icons.length, missing: missing.map(({ className }) => className) };
    });
    assert.equal(found.status, 'loaded');
    assert.ok(found.icons > 5);
    assert.deepEqual(found.missing, []);
  });

  const KINDS = {
    flowchart: 'flowchart LR\n  A[Start] --> B{Text}',
    sequence: 'sequenceDiagram\n  Alice->>Bob: Text\n  Bob-->>Alice: Hello',
    class: 'classDiagram\n  Animal <|-- Text\n  Animal : +int age',
    state: 'stateDiagram-v2\n  [*] --> Text\n  Text --> [*]',
    'old state': 'stateDiagram\n  [*] --> Text\n  Text --> [*]',
    entities: 'erDiagram\n  CUSTOMER ||--o{ Text : places',
    gantt: 'gantt\n  dateFormat YYYY-MM-DD\n  section S\n  Text :a1, 2014-01-01, 30d\n  Other :after a1, 20d',
    pie: 'pie showData title Text\n  accDescr { a\n b }\n\n  "Dogs" : 386\n  "Cats" : 85.5',
    'a Git graph':
      'gitGraph LR:\n  commit id: "Text" tag: "v1"\n  branch dev order: 2\n  commit "m" type: REVERSE\n  switch main\n  merge dev\n  commit',
    journey: 'journey\n  title Text\n  section Work\n  Tea: 5: Me',
    timeline: 'timeline\n  title Text\n  2002 : LinkedIn',
    quadrants: 'quadrantChart\n  title Text\n  x-axis Low --> High\n  y-axis L --> H\n  A: [0.3, 0.6]',
    'an XY chart': 'xychart-beta\n  title "Text"\n  x-axis [a, b]\n  bar [5, 6]',
  };
  it('diagram: each kind is drawn', async () => {
    for (const [kind, source] of Object.entries(KINDS)) {
      await panel.tell(answer(`\`\`\`mermaid\n${source}\n\`\`\``));
      const drawn = panel.page.locator('.diagram');
      await drawn.waitFor();
      assert.equal(await drawn.innerText(), '', kind);
      const image = (await drawn.locator('img').getAttribute('src')) ?? '';
      assert.match(decodeURIComponent(image), />\s*Text\s*</, kind);
      await panel.tell(answer('empty'));
      await drawn.waitFor({ state: 'detached' });
    }
  });

  for (const [what, { source, line }] of Object.entries({
    'a slice without a value': { source: 'pie\n  "Dogs"', line: 2 },
    'a slice without quotes': { source: 'pie\n  "Cats": 1\n  Dogs: 2', line: 3 },
    'an attribute that the statement does not have': { source: 'gitGraph\n  commit\n  branch a tag: "b"', line: 3 },
    'an unknown statement': { source: 'gitGraph\n  push', line: 2 },
  })) {
    it(`diagram: ${what} is a mistake with its line`, async () => {
      await panel.tell(answer(`\`\`\`mermaid\n${source}\n\`\`\``));
      await panel.page.locator('.diagram.failed', { hasText: `error on line ${line}:` }).waitFor();
    });
  }

  it('diagram: one that takes too long is ended, and the next one is drawn', async () => {
    // More than 10 seconds of layout.
    const slow = `flowchart LR\n${Array.from({ length: 3_000 }, (_, at) => `n${at}`).join('\n')}`;
    await panel.tell(answer(`\`\`\`mermaid\n${slow}\n\`\`\`\n\n\`\`\`mermaid\n${KINDS.flowchart}\n\`\`\``));
    await panel.page.locator('.diagram.failed', { hasText: 'longer than 5 seconds' }).waitFor();
    await panel.page.locator('.diagram img').waitFor();
  });

  it('diagram: the page goes on while a script in the frame never ends, and can end it', async () => {
    const outcome = await inPage(panel.page, 'the script of the frame is another one', async () => {
      const path = '/diagram.js';
      const { DiagramFrame } = await import(path);
      const frame = new DiagramFrame(
        `onmessage = () => { parent.postMessage('looping', '*'); setTimeout(() => { for (;;); }); };
         parent.postMessage({ number: 0, secret: (() => { try { return parent.document.title } catch { return '' } })() }, '*')`,
      );
      const messages: unknown[] = [];
      addEventListener('message', ({ data, origin }) => messages.push(data, origin));
      const drawn = frame.draw('', true).catch(({ message }: Error) => message);
      while (!messages.includes('looping')) await new Promise((resolve) => setTimeout(resolve, 10));
      const running = document.querySelectorAll('iframe').length;
      const ended = await drawn;
      return { messages, running, ended, left: document.querySelectorAll('iframe').length };
    });
    assert.deepEqual(outcome, {
      messages: [{ number: 0, secret: '' }, 'null', 'looping', 'null'],
      running: 1,
      ended: 'It takes longer than 5 seconds.',
      left: 0,
    });
  });

  it('diagram: its front matter and directives have no effect', async () => {
    const styled =
      '```mermaid\n---\nconfig:\n  theme: forest\n---\n%%{init: {"theme": "forest"}}%%\nflowchart LR\n  A --> B\n```';
    const plain = '```mermaid\nflowchart LR\n  A --> B\n```';
    await panel.tell(answer([styled, plain].join('\n\n')));
    const images = panel.page.locator('.diagram img');
    await images.nth(1).waitFor();
    const [first, second] = await Promise.all([0, 1].map((at) => images.nth(at).getAttribute('src')));
    const withoutId = (source: string | null | undefined) => source?.replaceAll(/diagram-\d+/g, 'diagram');
    assert.equal(withoutId(first), withoutId(second));
  });

  it('code block: a long one is folded, unfolds with its button, and its bar stays in sight', async () => {
    const code = Array.from({ length: 120 }, (_, index) => `line${index + 1}();`).join('\n');
    await panel.tell(answer(`\`\`\`ts\n${code}\n\`\`\``));
    const block = panel.page.locator('.code');
    assert.ok(((await block.boundingBox())?.height ?? 0) < 560);
    await panel.page.getByRole('button', { name: 'Show all 120 lines' }).click();
    assert.ok(((await block.boundingBox())?.height ?? 0) > 2000);
    const list = panel.page.locator('.transcript');
    await inElement(list, 'layout and style are no text', (element) => element.scrollTo(0, 900));
    const bar = await panel.page.locator('.code-bar').boundingBox();
    const top = (await list.boundingBox())?.y ?? 0;
    assert.ok(bar && Math.abs(bar.y - top) < 6, `the bar is at ${bar?.y}, the transcript at ${top}`);
    await panel.page.getByRole('button', { name: 'Show fewer lines' }).click();
    assert.ok(((await block.boundingBox())?.height ?? 0) < 560);
  });

  it('code block: is coloured while it grows', async () => {
    const open = { parts: [{ type: 'text' as const, text: '```ts\nconst first = 1;\nconst sec' }], model: MODEL };
    await panel.tell(snapshot(transcriptOf({ parts: [{ type: 'text', text: 'Q' }] }, open)));
    await panel.page.locator('.code .hljs-keyword').first().waitFor();
    assert.equal(await panel.page.locator('.code pre').textContent(), 'const first = 1;\nconst sec');
  });

  it('diff: added and removed lines have different colours', async () => {
    await panel.tell(answer('```diff\n-old();\n+new();\n```'));
    await panel.page.locator('.hljs-addition').waitFor();
    const colours = await inPage(panel.page, 'layout and style are no text', () =>
      ['.hljs-addition', '.hljs-deletion'].map(
        (name) => getComputedStyle(document.querySelector(name) ?? document.body).backgroundColor,
      ),
    );
    assert.notEqual(colours[0], colours[1]);
  });

  it('tables and tasks: a table scrolls with the keyboard, a task box has the name of its task', async () => {
    const row = `| ${Array.from({ length: 12 }, (_, index) => `column number ${index}`).join(' | ')} |`;
    await panel.tell(answer(`${row}\n|${'---|'.repeat(12)}\n${row}\n\n- [x] write the *test*\n- [ ] ship`));
    const table = panel.page.getByRole('region', { name: 'Table' });
    await table.focus();
    await panel.page.keyboard.press('ArrowRight');
    await panel.page.waitForFunction(() => (document.querySelector('.table')?.scrollLeft ?? 0) > 0);
    assert.ok(await panel.page.getByRole('checkbox', { name: 'write the test' }).isChecked());
    assert.equal(await panel.page.getByRole('checkbox', { name: 'ship' }).isChecked(), false);
  });

  it('direction: follows each block, and code stays left to right', async () => {
    await panel.tell(answer('مرحبا بالعالم `code()`\n\nHello'));
    const directions = await panel.page
      .locator('.markdown p')
      .evaluateAll((blocks) => blocks.map((block) => getComputedStyle(block).direction));
    assert.deepEqual(directions, ['rtl', 'ltr']);
    assert.equal(
      await inElement(
        panel.page.locator('.markdown code'),
        'layout and style are no text',
        (code) => getComputedStyle(code).direction,
      ),
      'ltr',
    );
  });

  it('controls that turn text around are shown in reasoning and errors', async () => {
    const turned = 'a\u202eb';
    const text = { template: 'Set `limit.output` of {0}.', values: ['`m`'] };
    const error = {
      errorType: 'upstream_error',
      status: 500,
      title: 'The provider failed',
      message: turned,
      advice: 'Set `limit.output` of `m`.',
      adviceText: text,
      action: 'retry',
    } as const;
    await panel.tell(
      snapshot(
        transcriptOf(
          { parts: [{ type: 'text', text: 'Q' }] },
          { parts: [{ type: 'reasoning', text: turned, ms: 10 }], model: MODEL, ending: { type: 'failed', error } },
        ),
      ),
    );
    await panel.page.locator('.reasoning summary').click();
    assert.equal(await panel.page.locator('.reasoning .plain').innerText(), 'a⟨U+202E⟩b');
    // A card renders no Markdown.
    assert.deepEqual(await panel.page.locator('.card.error p').allInnerTexts(), [
      'a⟨U+202E⟩b',
      'Set limit.output of m.',
    ]);
  });

  it('model button: a long name is not cut in the narrowest side bar, and a short one takes no line', async () => {
    const narrow = await host.open({ width: 225 });
    const heights: number[] = [];
    for (const name of ['Large', 'qwen2.5-coder-7b']) {
      const model = { ...MODEL, name, usable: 100_000, images: true, pdf: true, tools: true, reasoning: true };
      const answer = { parts: [{ type: 'text' as const, text: 'A' }], model: MODEL, ending: COMPLETE, context: 12_345 };
      await narrow.tell({ type: 'model', model }, snapshot(transcriptOf({ parts: [] }, answer)));
      const label = narrow.page.locator('.model .name', { hasText: name });
      await label.waitFor();
      const cut = await inElement(label, 'layout and style are no text', (each) => each.scrollWidth > each.clientWidth);
      assert.equal(cut, false, name);
      const count = narrow.page.locator('.gauge .short', { hasText: '12.3k' });
      assert.equal(await count.isVisible(), name !== 'Large');
      heights.push((await narrow.page.locator('.composer .bar').boundingBox())?.height ?? 0);
    }
    const [short = 0, long = 0] = heights;
    assert.ok(long > short, heights.join());
    await narrow.close();
  });

  it('token count: is visible at the default width of the side bar', async () => {
    const narrow = await host.open({ width: 300 });
    await narrow.tell(
      { type: 'model', model: { ...MODEL, usable: 100_000, images: true, pdf: true, tools: true, reasoning: true } },
      snapshot(
        transcriptOf(
          { parts: [{ type: 'text', text: 'Q' }] },
          { parts: [{ type: 'text', text: 'A' }], model: MODEL, ending: COMPLETE, context: 12_345, price: 0.02 },
        ),
      ),
    );
    assert.ok(await narrow.page.locator('.gauge').getByText('12.3k', { exact: true }).isVisible());
    await narrow.close();
  });
});
