import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Patch } from '../../src/chat/transcript.ts';
import { HOSTILE } from './hostile-corpus.ts';
import {
  COMPLETE,
  MODEL,
  type Panel,
  type PanelHost,
  snapshot,
  startPanelHost,
  transcriptOf,
  VIEW,
} from './panel-page.ts';
import { STATES } from './states.ts';
import { THEMES, type ThemeName } from './themes.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const text = (value: string) => ({ type: 'text' as const, text: value });
const user = { role: 'user' as const, parts: [text('Question')] };
const SET = { type: 'model' as const, model: VIEW };
const append = (value: string): Patch => ({ type: 'append', message: 'm1', part: 0, kind: 'text', text: value });
const patches = (from: number, ...list: readonly Patch[]) =>
  ({ type: 'patches', session: 's', from, seq: from + list.length, patches: list }) as const;

describe('the panel’s page', function () {
  this.timeout(60_000);
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

  describe('is safe', () => {
    for (const policy of [true, false]) {
      it(`lets nothing that a model wrote load, run or lead away ${policy ? 'with' : 'even without'} its policy`, async () => {
        const strange = await host.open({ policy });
        const dialogs: string[] = [];
        strange.page.on('dialog', (dialog) => {
          dialogs.push(dialog.message());
          void dialog.dismiss();
        });
        const before = host.strangers.length;
        for (const [name, markdown] of Object.entries(HOSTILE)) {
          const hostile = markdown.replaceAll('HOST', host.url);
          const answer = { role: 'assistant' as const, parts: [text(hostile)], ending: COMPLETE, model: MODEL };
          await strange.tell(SET, snapshot(transcriptOf(user, answer)));
          const found = await strange.page.evaluate(() => {
            const body = document.querySelector('.markdown');
            const links = [...(body?.querySelectorAll('a') ?? [])].map((link) => link.getAttribute('href') ?? '');
            const handlers = [...(body?.querySelectorAll('*') ?? [])].flatMap((element) =>
              element
                .getAttributeNames()
                .filter((attribute) => /^(?:on|style|src|srcset|action|id|name)/.test(attribute)),
            );
            const foreign = body?.querySelectorAll(
              'script, style, iframe, object, embed, form, img, svg, video, audio, link, meta, base, .card',
            ).length;
            return {
              links: links.filter((href) => href !== '' && !/^(?:https?|mailto):/i.test(href)),
              handlers,
              foreign,
            };
          });
          assert.deepEqual(found, { links: [], handlers: [], foreign: 0 }, name);
        }
        await strange.page.waitForLoadState('networkidle');
        assert.deepEqual(host.strangers.slice(before), []);
        assert.deepEqual(dialogs, []);
        assert.equal(new URL(strange.page.url()).pathname, '/panel.html');
        await strange.close();
      });
    }

    it('shows what a tool was given and gave as the text it is', async () => {
      const evil = `<img src="${host.url}/tool" onerror="alert(1)">\u202e`;
      const tool = {
        ...{ type: 'tool' as const, id: 'c', name: evil, origin: evil, changes: true, text: JSON.stringify({ evil }) },
        state: { type: 'done' as const, output: evil },
      };
      const before = host.strangers.length;
      await panel.tell(SET, snapshot(transcriptOf(user, { role: 'assistant', parts: [tool], ending: COMPLETE })));
      await panel.page.locator('.tool summary').click();
      assert.match(await panel.page.locator('.tool').innerText(), /<img src=/);
      assert.match(await panel.page.locator('.tool').innerText(), /⟨U\+202E⟩/);
      assert.deepEqual(host.strangers.slice(before), []);
    });

    it('hands a link to the host with what it says, and follows none', async () => {
      const answer = {
        role: 'assistant' as const,
        parts: [text('[good.example](https://evil.example/x)')],
        ending: COMPLETE,
      };
      await panel.tell(SET, snapshot(transcriptOf(user, answer)));
      await panel.page.locator('.markdown a').click();
      assert.deepEqual(await panel.said('open-link'), [
        { type: 'open-link', href: 'https://evil.example/x', shown: 'good.example' },
      ]);
      assert.equal(new URL(panel.page.url()).pathname, '/panel.html');
    });

    it('does not listen to a frame of another origin', async () => {
      await panel.tell(SET, snapshot(transcriptOf(user)));
      await panel.page.evaluate(() =>
        window.dispatchEvent(
          new MessageEvent('message', {
            data: { type: 'draft', text: 'forged', attachments: [] },
            origin: 'https://evil.example',
          }),
        ),
      );
      assert.equal(await panel.page.locator('.composer textarea').inputValue(), '');
    });
  });

  describe('is for everyone', () => {
    for (const theme of Object.keys(THEMES) as ThemeName[]) {
      it(`has no fault that axe can find, in any state: ${theme}`, async () => {
        const dressed = await host.open({ theme });
        const source = readFileSync(AXE, 'utf8');
        // The page's policy forbids added scripts: the debugger may evaluate them.
        await dressed.page.evaluate(source);
        for (const [name, messages] of Object.entries(STATES)) {
          await dressed.tell(...messages);
          const faults = await dressed.page.evaluate(async () => {
            const { axe } = window as unknown as {
              axe: {
                run(
                  context: Document,
                  options: unknown,
                ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
              };
            };
            // A view inside of VS Code: the page is no document of its own with a main landmark.
            const rules = {
              region: { enabled: false },
              'page-has-heading-one': { enabled: false },
              'landmark-one-main': { enabled: false },
            };
            const { violations } = await axe.run(document, { rules });
            return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
          });
          assert.deepEqual(faults, [], name);
        }
        await dressed.close();
      });
    }

    it('names every control and keeps its roles', async () => {
      await panel.tell(...(STATES.tools ?? []));
      const tree = await panel.page.locator('body').ariaSnapshot();
      for (const expected of [
        /- log "Conversation"/,
        /- article "Answer of Up Large"/,
        /- region "Tool edit_file"/,
        /- group "Allow edit_file\?"/,
        /- button "Allow once"/,
        /- textbox "Reason for not allowing"/,
        /- status: A tool waits for your decision\./,
        /- textbox "Message"/,
        /- button "Attach"/,
        /- button "Stop"/,
      ]) {
        assert.match(tree, expected);
      }
      assert.doesNotMatch(tree, /- button\s*$/m, 'a button without a name');
    });

    it('announces that an answer begins and its text once, and nothing in between', async () => {
      await panel.tell(SET, snapshot(transcriptOf(user)));
      await panel.page.evaluate(() => {
        const heard: string[] = [];
        Object.assign(window, { heard });
        const status = document.querySelector('[role="status"]');
        if (status) {
          new MutationObserver(() => heard.push(status.textContent ?? '')).observe(status, {
            childList: true,
            characterData: true,
            subtree: true,
          });
        }
      });
      const add: Patch = {
        type: 'add',
        message: { id: 'm1', parent: 'm0', role: 'assistant', parts: [], createdAt: 1 },
      };
      await panel.tell(patches(0, add));
      for (let step = 0; step < 20; step++) await panel.tell(patches(1 + step, append(`word${step} `)));
      await panel.tell(patches(21, { type: 'end', message: 'm1', ending: COMPLETE }));
      const heard = await panel.page.evaluate(() => (window as unknown as { heard: string[] }).heard);
      const words = Array.from({ length: 20 }, (_, step) => `word${step} `).join('');
      assert.deepEqual(
        heard.filter((line) => line !== '' && !line.startsWith('The answer goes on')),
        ['The answer begins.', words],
      );
    });

    for (const event of [{ isComposing: true }, { keyCode: 229 }]) {
      it(`sends nothing while an input method composes: ${JSON.stringify(event)}`, async () => {
        await panel.tell(
          SET,
          snapshot(transcriptOf(user, { role: 'assistant', parts: [text('x')], ending: COMPLETE })),
        );
        await panel.page.locator('.composer textarea').fill('にほん');
        const press = (selector: string) =>
          panel.page.evaluate(
            ({ selector, event }) => {
              const init = { key: 'Enter', bubbles: true, cancelable: true, ...event };
              document.querySelector(selector)?.dispatchEvent(new KeyboardEvent('keydown', init));
            },
            { selector, event },
          );
        await press('.composer textarea');
        await panel.page.locator('.message.user').hover();
        await panel.page.getByRole('button', { name: 'Edit message' }).click();
        await press('.edit-box textarea');
        assert.deepEqual(await panel.said('send'), []);
        assert.deepEqual(await panel.said('edit'), []);
        await panel.page.locator('.composer textarea').press('Enter');
        assert.equal((await panel.said('send')).length, 1);
      });
    }

    it('can be used with the keyboard alone, from the transcript to Send', async () => {
      await panel.tell(...(STATES.answer ?? []));
      await panel.page.locator('.transcript').focus();
      const names: string[] = [];
      for (let step = 0; step < 20; step++) {
        await panel.page.keyboard.press('Tab');
        names.push(
          await panel.page.evaluate(
            () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
          ),
        );
      }
      for (const expected of [
        'Copy code',
        'Insert at cursor',
        'Compare and apply',
        'New file with this code',
        'Code, ts',
        'Copy answer',
        'Message',
        'Attach',
      ]) {
        assert.ok(names.includes(expected), `${expected} in ${names.join(' | ')}`);
      }
    });

    it('fits 240 pixels and twice the zoom: nothing is cut off at the side', async () => {
      for (const width of [240, 320, 420]) {
        const narrow = await host.open({ width });
        for (const [name, messages] of Object.entries(STATES)) {
          await narrow.tell(...messages);
          const over = await narrow.page.evaluate(() => {
            const scrolls = (element: Element) =>
              element.closest('pre, table, .gist, .name, .figures, .unseen') !== null;
            return [...document.querySelectorAll('body *')]
              .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1 && !scrolls(element))
              .map((element) => element.outerHTML.slice(0, 120));
          });
          assert.deepEqual(over, [], `${name} at ${width}`);
        }
        await narrow.close();
      }
    });

    it('does not move for who wants no motion', async () => {
      const still = await host.open({ reducedMotion: true });
      await still.tell(...(STATES.waiting ?? []));
      const moving = await still.page.evaluate(
        () => document.getAnimations().filter((each) => each.playState === 'running').length,
      );
      assert.equal(moving, 0);
      await still.close();
    });

    it('speaks the language of the editor', async () => {
      const german = await host.open({ words: { 'Ask about your code': 'Frag zu deinem Code' } });
      await german.tell({ type: 'model', model: null }, snapshot(transcriptOf()));
      assert.equal(await german.page.locator('.empty h1').innerText(), 'Frag zu deinem Code');
      await german.close();
    });
  });

  describe('follows the host', () => {
    const begin = [SET, snapshot(transcriptOf(user, { role: 'assistant', parts: [text('Start. ')] }))] as const;

    it('asks for a snapshot when something was lost, once', async () => {
      await panel.tell(...begin, patches(5, append('lost')), patches(6, append('more')));
      assert.equal((await panel.said('resync')).length, 1);
      assert.equal(await panel.page.locator('.markdown').innerText(), 'Start.');
    });

    it('draws ten thousand pieces in few frames', async () => {
      await panel.tell(...begin);
      const drawn = await panel.page.evaluate(async () => {
        const body = document.querySelector('.markdown');
        let changes = 0;
        if (body) new MutationObserver(() => (changes += 1)).observe(body, { childList: true, subtree: true });
        for (let at = 0; at < 10_000; at++) {
          const data = {
            ...{ type: 'patches', session: 's', from: at, seq: at + 1 },
            patches: [{ type: 'append', message: 'm1', part: 0, kind: 'text', text: 'abc ' }],
          };
          window.dispatchEvent(new MessageEvent('message', { data, origin: window.origin }));
          if (at % 100 === 0) await new Promise((resolve) => setTimeout(resolve));
        }
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        return { changes, length: body?.textContent?.length ?? 0 };
      });
      assert.ok(drawn.length >= 39_999, `${drawn.length} characters`);
      assert.ok(drawn.changes <= 110, `${drawn.changes} changes`);
    });

    it('keeps what is read in place while the answer grows, and comes back to the end when asked', async () => {
      const long = Array.from({ length: 60 }, (_, line) => `Paragraph ${line} of a long answer.`).join('\n\n');
      await panel.tell(SET, snapshot(transcriptOf(user, { role: 'assistant', parts: [text(`${long}\n\n`)] })));
      const top = () => panel.page.locator('.transcript').evaluate((list) => list.scrollTop);
      const atEnd = () =>
        panel.page
          .locator('.transcript')
          .evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight < 2);
      assert.equal(await atEnd(), true);
      await panel.page.locator('.transcript').hover();
      await panel.page.mouse.wheel(0, -400);
      await panel.page.getByRole('button', { name: 'Latest' }).waitFor();
      const held = await top();
      for (let at = 0; at < 500; at += 10) {
        await panel.tell(patches(at, ...Array.from({ length: 10 }, (_, index) => append(`More ${at + index}.\n\n`))));
        assert.ok(Math.abs((await top()) - held) <= 1, `moved at ${at}`);
      }
      await panel.page.getByRole('button', { name: 'Latest' }).click();
      await panel.tell(patches(500, append('And the end.')));
      assert.equal(await atEnd(), true);
    });

    it('shows 400 messages within a moment of the snapshot', async () => {
      const messages = Array.from({ length: 400 }, (_, index) => ({
        id: `m${index}`,
        role: index % 2 ? ('assistant' as const) : ('user' as const),
        parts: [
          text(
            index % 2
              ? `Answer **${index}** with \`code\`:\n\n\`\`\`ts\nconst a = ${index};\n\`\`\``
              : `Question ${index}`,
          ),
        ],
        ...(index % 2 ? { ending: COMPLETE } : {}),
      }));
      await panel.tell(SET, snapshot(transcriptOf(...messages)));
      assert.equal(await panel.page.locator('.message').count(), 400);
      assert.match(await panel.page.locator('.message').last().innerText(), /399/);
    });
  });

  describe('composes', () => {
    beforeEach(() =>
      panel.tell(SET, snapshot(transcriptOf(user, { role: 'assistant', parts: [text('x')], ending: COMPLETE }))),
    );
    const input = () => panel.page.locator('.composer textarea');

    it('tells the host of every keystroke, so that nothing typed is lost with the page', async () => {
      await input().pressSequentially('abc');
      assert.deepEqual(
        (await panel.said('draft')).map(({ text }) => text),
        ['a', 'ab', 'abc'],
      );
    });

    it('completes @ in a list that does not get in the way of typing', async () => {
      await input().pressSequentially('look at @ba');
      const asked = (await panel.said('complete')).at(-1);
      assert.deepEqual([asked?.trigger, asked?.text], ['@', 'ba']);
      const items = [
        { id: 'file:1', label: 'basket.ts', icon: 'file', insert: '' },
        { id: 'file:2', label: 'bag.ts', icon: 'file', insert: '' },
      ];
      await panel.tell({ type: 'completions', query: Number(asked?.query), items });
      await input().press('ArrowDown');
      assert.equal(await panel.page.locator('.completions [aria-selected="true"]').innerText(), 'bag.ts');
      await input().press('Enter');
      assert.deepEqual(
        (await panel.said('attach-item')).map(({ item }) => item),
        ['file:2'],
      );
      assert.equal(await input().inputValue(), 'look at ');
      assert.deepEqual(await panel.said('send'), []);
    });

    it('offers commands at the beginning alone, and Escape closes the list', async () => {
      await input().pressSequentially('a/b');
      assert.deepEqual(
        (await panel.said('complete')).filter(({ trigger }) => trigger === '/'),
        [],
      );
      await input().fill('');
      await input().pressSequentially('/ex');
      const asked = (await panel.said('complete')).at(-1);
      const items = [{ id: 'command:explain', label: '/explain', icon: 'x', insert: '/explain ' }];
      await panel.tell({ type: 'completions', query: Number(asked?.query), items });
      await panel.page.locator('.completions').waitFor();
      await input().press('Escape');
      assert.equal(await panel.page.locator('.completions').count(), 0);
      await input().press('Enter');
      assert.equal((await panel.said('send'))[0]?.text, '/ex');
    });

    it('takes a pasted picture, with a small preview', async () => {
      await input().evaluate(async (area) => {
        const canvas = new OffscreenCanvas(300, 200);
        canvas.getContext('2d')?.fillRect(0, 0, 300, 200);
        const data = new DataTransfer();
        data.items.add(
          new File([await canvas.convertToBlob({ type: 'image/png' })], 'shot.png', { type: 'image/png' }),
        );
        area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
      });
      await panel.page.waitForFunction(() =>
        (window as unknown as { said: { type: string }[] }).said.some(({ type }) => type === 'attach-media'),
      );
      const [attached] = await panel.said('attach-media');
      assert.deepEqual([attached?.name, attached?.mediaType], ['shot.png', 'image/png']);
      assert.match(String(attached?.preview), /^data:image\/png;base64,/);
    });

    it('gives the source text of code, never what is on screen', async () => {
      const source = 'const a = 1;\n\n\tconst b = "x  y";';
      const answer = { role: 'assistant' as const, parts: [text(`\`\`\`ts\n${source}\n\`\`\``)], ending: COMPLETE };
      await panel.tell(snapshot(transcriptOf(user, answer)));
      await panel.page.locator('.hljs-keyword').first().waitFor();
      await panel.page.getByRole('button', { name: 'Copy code' }).click();
      await panel.page.getByRole('button', { name: 'Insert at cursor' }).click();
      assert.equal((await panel.said('copy'))[0]?.text, source);
      assert.deepEqual(await panel.said('code'), [{ type: 'code', action: 'insert', text: source, language: 'ts' }]);
    });

    it('answers a waiting tool in each way', async () => {
      await panel.tell(...(STATES.tools ?? []));
      for (const name of ['Allow once', 'Allow in this conversation', 'Always allow']) {
        await panel.page.getByRole('button', { name, exact: true }).click();
      }
      await panel.page.getByRole('textbox', { name: 'Reason' }).fill('No.');
      await panel.page.getByRole('button', { name: 'Deny' }).click();
      assert.deepEqual(
        (await panel.said('decide')).map(({ decision }) => decision),
        [{ type: 'once' }, { type: 'session' }, { type: 'always' }, { type: 'deny', reason: 'No.' }],
      );
    });

    it('switches between versions, edits and answers again', async () => {
      await panel.tell(...(STATES.branch ?? []));
      assert.match(await panel.page.locator('.message.assistant .versions').innerText(), /2\/3/);
      await panel.page.getByRole('button', { name: 'Version before' }).click();
      await panel.page.getByRole('button', { name: 'Answer again' }).click();
      await panel.page.locator('.message.user').hover();
      await panel.page.getByRole('button', { name: 'Edit message' }).click();
      await panel.page.locator('.edit-box textarea').fill('Name it better.');
      await panel.page.locator('.edit-box textarea').press('Enter');
      assert.deepEqual(await panel.said('select'), [{ type: 'select', message: 'a1' }]);
      assert.deepEqual(await panel.said('regenerate'), [{ type: 'regenerate', message: 'a2' }]);
      assert.deepEqual(await panel.said('edit'), [{ type: 'edit', message: 'u', text: 'Name it better.' }]);
    });
  });
});
