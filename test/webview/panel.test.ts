import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Patch } from '../../src/chat/transcript.ts';
import type { CompletionItem, ToPage } from '../../src/protocol/chat/page-messages.ts';
import { inElement, inPage, scrollUp, tabTo, typeInto } from '../host/person.ts';
import { STATES } from './gallery-states.ts';
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

const text = (value: string) => ({ type: 'text' as const, text: value });
const user = { role: 'user' as const, parts: [text('Question')] };
const SET = { type: 'model' as const, model: VIEW };
const append = (value: string): Patch => ({ type: 'append', message: 'm1', part: 0, kind: 'text', text: value });
const patches = (from: number, ...list: readonly Patch[]) =>
  ({ type: 'patches', session: 's', from, seq: from + list.length, patches: list }) as const;

describe('chat page', () => {
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

  describe('messages of the host', () => {
    const begin = [SET, snapshot(transcriptOf(user, { role: 'assistant', parts: [text('Start. ')] }))] as const;

    it('chat page: requests one snapshot after a lost message', async () => {
      await panel.tell(...begin, patches(5, append('lost')), patches(6, append('more')));
      assert.equal((await panel.sentMessages('resync')).length, 1);
      assert.equal(await panel.page.locator('.markdown').innerText(), 'Start.');
    });

    it('chat page: draws ten thousand pieces in few frames', async () => {
      await panel.tell(...begin);
      const drawn = await inPage(panel.page, 'the host sends messages', async () => {
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

    it('chat page: keeps the scroll position while an answer grows, and returns to the end on request', async () => {
      const long = Array.from({ length: 60 }, (_, line) => `Paragraph ${line} of a long answer.`).join('\n\n');
      await panel.tell(SET, snapshot(transcriptOf(user, { role: 'assistant', parts: [text(`${long}\n\n`)] })));
      const top = () =>
        inElement(panel.page.locator('.transcript'), 'layout and style are no text', (list) => list.scrollTop);
      const atEnd = () =>
        inElement(
          panel.page.locator('.transcript'),
          'layout and style are no text',
          (list) => list.scrollHeight - list.scrollTop - list.clientHeight < 2,
        );
      assert.equal(await atEnd(), true);
      await scrollUp(panel.page, panel.page.locator('.transcript'), 400);
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

    describe('a transcript of 400 messages', () => {
      const answer = (index: number) => `Answer **${index}** with \`code\`:\n\n\`\`\`ts\nconst a = ${index};\n\`\`\``;
      const messages = Array.from({ length: 400 }, (_, index) => ({
        id: `m${index}`,
        role: index % 2 ? ('assistant' as const) : ('user' as const),
        parts: [text(index % 2 ? answer(index) : `Question ${index}`)],
        ...(index % 2 ? { ending: COMPLETE } : {}),
      }));
      const allDrawn = () =>
        panel.page.waitForFunction(
          () => document.querySelectorAll('.message').length === 400 && document.querySelector('.undrawn') === null,
        );

      it('long transcript: shows the last messages immediately, the others soon, and draws each when it is visible', async () => {
        await panel.tell(SET, snapshot(transcriptOf(...messages)));
        assert.match(await panel.page.locator('.message').last().innerText(), /399/);
        await panel.page.locator('.message').nth(399).waitFor({ state: 'attached' });
        await inElement(panel.page.locator('.transcript'), 'layout and style are no text', (list) =>
          list.scrollTo(0, 0),
        );
        await panel.page.locator('.message').nth(1).locator('.markdown strong', { hasText: '1' }).waitFor();
        await allDrawn();
        assert.equal(await panel.page.locator('.message pre').count(), 200);
      });

      it('long transcript: stays at the end while earlier messages are added', async () => {
        await panel.tell(SET, snapshot(transcriptOf(...messages)));
        await allDrawn();
        const toEnd = await inElement(
          panel.page.locator('.transcript'),
          'layout and style are no text',
          (list) => list.scrollHeight - list.scrollTop - list.clientHeight,
        );
        assert.ok(toEnd < 2, `${toEnd} pixels`);
        assert.equal(await panel.page.getByRole('button', { name: 'Latest' }).count(), 0);
      });

      /** Delays idle callbacks of the page until `resume`. */
      const holdIdle = () =>
        inPage(panel.page, 'the document is inspected', () => {
          const { requestIdleCallback: idle } = window;
          let held: IdleRequestCallback[] = [];
          window.requestIdleCallback = (run) => held.push(run);
          const resume = () => {
            window.requestIdleCallback = idle;
            for (const run of held) idle.call(window, run);
          };
          /** One idle period that ends when `over` returns true. */
          const moment = (over: () => boolean) => {
            const now = held;
            held = [];
            for (const run of now) run({ didTimeout: false, timeRemaining: () => (over() ? 0 : 50) });
          };
          Object.assign(window, { resume, moment });
        });

      it('long transcript: adds messages one by one while time remains', async () => {
        await holdIdle();
        await panel.tell(SET, snapshot(transcriptOf(...messages)));
        const left = await inPage(panel.page, 'drawn is no event', async () => {
          const { moment } = window as unknown as { moment(over: () => boolean): void };
          const undrawn = () => document.querySelectorAll('.undrawn').length;
          const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
          while (document.querySelectorAll('.message').length < 400) {
            moment(() => true);
            await frame();
          }
          const before = undrawn();
          moment(() => undrawn() < before);
          await frame();
          return { before, after: undrawn() };
        });
        assert.ok(left.before > 100);
        assert.equal(left.after, left.before - 1);
      });

      it('long transcript: keeps the scroll position of the user while earlier messages are added', async () => {
        await holdIdle();
        await panel.tell(SET, snapshot(transcriptOf(...messages)));
        await scrollUp(panel.page, panel.page.locator('.transcript'), 150);
        await panel.page.getByRole('button', { name: 'Latest' }).waitFor();
        assert.ok((await panel.page.locator('.message').count()) < 400);
        const top = async () =>
          (await panel.page.locator('.message', { hasText: 'Question 398' }).boundingBox())?.y ?? 0;
        const before = await top();
        await inPage(panel.page, 'the document is inspected', () => (window as unknown as { resume(): void }).resume());
        await allDrawn();
        assert.ok(Math.abs((await top()) - before) <= 1, `${before} became ${await top()}`);
      });
    });
  });

  describe('composer', () => {
    beforeEach(() =>
      panel.tell(SET, snapshot(transcriptOf(user, { role: 'assistant', parts: [text('x')], ending: COMPLETE }))),
    );
    const input = () => panel.page.locator('.composer textarea');

    it('composer: reports each keystroke to the host, so that the draft survives the page', async () => {
      await input().pressSequentially('abc');
      assert.deepEqual(
        (await panel.sentMessages('draft')).map(({ text }) => text),
        ['a', 'ab', 'abc'],
      );
    });

    it('composer: reports dropped content that it cannot read', async () => {
      await inPage(panel.page, 'the event carries data as browsers make it', () => {
        const drop = (name: string, type: string, bytes: number) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
          document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
        };
        drop('large.pdf', 'application/pdf', 10 * 1024 * 1024 + 1);
        drop('notes.txt', 'text/plain', 10);
        drop('broken.png', 'image/png', 10);
      });
      await panel.page.waitForFunction(
        () =>
          (window as unknown as { said: { type: string }[] }).said.filter((m) => m.type === 'attach-refused').length >
          2,
      );
      assert.deepEqual((await panel.sentMessages('attach-refused')).map(({ name, why }) => `${name}: ${why}`).sort(), [
        'broken.png: kind',
        'large.pdf: too-large',
        'notes.txt: kind',
      ]);
      assert.deepEqual(await panel.sentMessages('attach-media'), []);
    });

    /** Drops data as another page or program does. */
    const drop = (target: string, data: Readonly<Record<string, string>>, files: readonly string[] = []) =>
      inPage(
        panel.page,
        'the event carries data as browsers make it',
        async ([target, data, files]) => {
          const dataTransfer = new DataTransfer();
          for (const [type, value] of Object.entries(data)) dataTransfer.setData(type, value);
          for (const name of files) {
            const canvas = new OffscreenCanvas(2, 2);
            canvas.getContext('2d')?.fillRect(0, 0, 2, 2);
            dataTransfer.items.add(new File([await canvas.convertToBlob()], name, { type: 'image/png' }));
          }
          const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
          document.querySelector(target)?.dispatchEvent(event);
        },
        [target, data, files] as const,
      );

    it('composer: inserts the address of a dropped link, and dropped text, and attaches neither', async () => {
      const address = 'https://example.com/a';
      await drop('.transcript', {
        'text/uri-list': address,
        'text/plain': address,
        'text/html': `<a href="${address}">A</a>`,
      });
      await drop('.transcript', { 'text/plain': 'some text', 'text/html': '<b>some text</b>' });
      await panel.page.locator('.composer textarea:focus').waitFor();
      assert.equal(await input().inputValue(), `${address} some text`);
      assert.equal((await panel.sentMessages('draft')).at(-1)?.text, `${address} some text`);
      assert.deepEqual(await panel.sentMessages('attach-uris'), []);
    });

    it('composer: attaches an image that is dropped from a web page, and not its address', async () => {
      const address = 'https://example.com/dot.png';
      const html = `<img src="${address}">`;
      await drop('.composer textarea', { 'text/uri-list': address, 'text/html': html }, ['dot.png']);
      await panel.page.waitForFunction(() =>
        (window as unknown as { said: { type: string }[] }).said.some(({ type }) => type === 'attach-media'),
      );
      assert.deepEqual(
        (await panel.sentMessages('attach-media')).map(({ name }) => name),
        ['dot.png'],
      );
      assert.deepEqual(await panel.sentMessages('attach-uris'), []);
      assert.equal(await input().inputValue(), '');
    });

    it('composer: attaches dropped files and folders of the editor, and leaves out web addresses', async () => {
      const file = 'vscode-remote://host/a/basket.ts';
      await drop('.transcript', { 'text/uri-list': `${file}\r\nhttps://example.com/a` });
      assert.deepEqual(
        (await panel.sentMessages('attach-uris')).map(({ uris }) => uris),
        [[file]],
      );
    });

    it('composer: has the caret when the page is shown again, whatever had the focus before', async () => {
      await tabTo(panel.page, panel.page.getByRole('button', { name: 'Choose tools' }));
      await panel.tell({ type: 'hidden' });
      await inPage(panel.page, 'the focus of a window is that of VS Code', () =>
        window.dispatchEvent(new Event('focus')),
      );
      await panel.page.locator('.composer textarea:focus').waitFor();
    });

    it('composer: has the caret when the page gets the focus, unless text is selected', async () => {
      await inPage(panel.page, 'the focus of a window is that of VS Code', () =>
        window.dispatchEvent(new Event('focus')),
      );
      await panel.page.locator('.composer textarea:focus').waitFor();
      await panel.page.locator('.message.assistant .markdown').dblclick();
      await inPage(panel.page, 'the focus of a window is that of VS Code', () =>
        window.dispatchEvent(new Event('focus')),
      );
      assert.equal(await panel.page.locator('.composer textarea:focus').count(), 0);
    });

    it('composer: keeps text that is typed before the conversation arrives, behind the draft', async () => {
      const fresh = await host.open();
      await fresh.page.keyboard.type('typed early');
      await fresh.tell({ type: 'draft', text: 'A draft, ', attachments: [] }, SET, snapshot(transcriptOf(user)));
      assert.equal(await fresh.page.locator('.composer textarea').inputValue(), 'A draft, typed early');
      await fresh.page.keyboard.type('!');
      const drafts = (await fresh.sentMessages('draft')).map(({ text }) => text);
      assert.deepEqual(drafts, ['A draft, typed early', 'A draft, typed early!']);
      await fresh.close();
    });

    it('composer: sends a message that is typed and sent before the conversation arrives', async () => {
      const fresh = await host.open();
      await fresh.page.keyboard.type('typed early');
      await fresh.page.keyboard.press('Enter');
      assert.deepEqual(await fresh.sentMessages('send'), []);
      await fresh.tell({ type: 'draft', text: '', attachments: [] }, SET, snapshot(transcriptOf(user)));
      assert.deepEqual(
        (await fresh.sentMessages('send')).map(({ text }) => text),
        ['typed early'],
      );
      await fresh.close();
    });

    /** The user acts in a page of which the script has not run. */
    const openEarly = (early: (page: Page) => Promise<unknown>) =>
      host.open({
        early: async (page) => {
          await inPage(page, 'the focus of a window is that of VS Code', () =>
            window.dispatchEvent(new Event('focus')),
          );
          await early(page);
        },
      });
    const sentTexts = async (fresh: Panel) => (await fresh.sentMessages('send')).map(({ text }) => text);

    it('composer: goes on where the caret is in text that is typed before the script of the page runs', async () => {
      const fresh = await openEarly(async (page) => {
        await page.keyboard.type('one three');
        await page.keyboard.press('Shift+Enter');
        await page.keyboard.type('four');
        for (let left = 0; left < 'three four'.length; left += 1) await page.keyboard.press('ArrowLeft');
      });
      await fresh.page.keyboard.type('two ');
      await fresh.tell({ type: 'draft', text: 'A draft, ', attachments: [] }, SET, snapshot(transcriptOf(user)));
      const area = fresh.page.locator('.composer textarea');
      assert.equal(await area.inputValue(), 'A draft, one two three\nfour');
      assert.equal((await fresh.sentMessages('draft')).at(-1)?.text, 'A draft, one two three\nfour');
      assert.equal(await fresh.page.locator('textarea').count(), 1);
      assert.deepEqual(await sentTexts(fresh), []);
      await fresh.close();
    });

    it('composer: sends a message that is sent before the script of the page runs, but not if it is changed', async () => {
      const enter = (text: string, more: string) => async (page: Page) => {
        await page.keyboard.type(text);
        await page.keyboard.press('Enter');
        await page.keyboard.type(more);
      };
      for (const [more, sent] of [
        ['', ['typed early']],
        [', and more', []],
      ] as const) {
        const fresh = await openEarly(enter('typed early', more));
        assert.deepEqual(await sentTexts(fresh), []);
        await fresh.tell({ type: 'draft', text: '', attachments: [] }, SET, snapshot(transcriptOf(user)));
        assert.deepEqual(await sentTexts(fresh), sent);
        await fresh.close();
      }
    });

    it('composer: an input method goes on composing when the script of the page begins to run', async () => {
      const compose = async (page: Page, text: string) => {
        const session = await page.context().newCDPSession(page);
        await session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
      };
      const fresh = await openEarly((page) => compose(page, 'にほ'));
      await compose(fresh.page, 'にほん');
      await fresh.page.keyboard.insertText('日本');
      await fresh.tell({ type: 'draft', text: '', attachments: [] }, SET, snapshot(transcriptOf(user)));
      assert.equal(await fresh.page.locator('.composer textarea').inputValue(), '日本');
      await fresh.close();
    });

    it('composer: is not seen before the style sheets and the script of the page are loaded', async () => {
      const fresh = await openEarly(async (page) => {
        const seen = await inElement(page.locator('textarea'), 'the style is compared', (area) =>
          getComputedStyle(area.parentElement ?? area).getPropertyValue('opacity'),
        );
        assert.equal(seen, '0');
      });
      await fresh.tell({ type: 'draft', text: '', attachments: [] }, SET, snapshot(transcriptOf(user)));
      const seen = await inElement(fresh.page.locator('.composer'), 'the style is compared', (composer) =>
        getComputedStyle(composer).getPropertyValue('opacity'),
      );
      assert.equal(seen, '1');
      await fresh.close();
    });

    it('composer: pastes copied cells as text and not as an image', async () => {
      const left = await inElement(input(), 'the clipboard is invisible', async (area) => {
        const canvas = new OffscreenCanvas(2, 2);
        canvas.getContext('2d')?.fillRect(0, 0, 2, 2);
        const clipboardData = new DataTransfer();
        clipboardData.items.add(new File([await canvas.convertToBlob()], 'cells.png', { type: 'image/png' }));
        clipboardData.setData('text/plain', '1\t2');
        return area.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      });
      assert.equal(left, true, 'the page took what the browser should paste');
    });

    it('composer: the tool picker is available if the model supports tools', async () => {
      const tools = panel.page.getByRole('button', { name: 'Choose tools' });
      await tools.click();
      assert.equal((await panel.sentMessages('choose-tools')).length, 1);
      await panel.tell({ type: 'model', model: { ...VIEW, tools: false } });
      assert.equal(await tools.count(), 0);
    });

    it('composer: the list of @ completions does not interrupt typing', async () => {
      await input().pressSequentially('look at @ba');
      const asked = (await panel.sentMessages('complete')).at(-1);
      assert.deepEqual([asked?.trigger, asked?.text], ['@', 'ba']);
      const items: CompletionItem[] = [
        { id: 'file:1', label: 'basket.ts', icon: 'file', insert: '@basket.ts ', attaches: true },
        { id: 'file:2', label: 'bag.ts', icon: 'file', insert: '@bag.ts ', attaches: true },
      ];
      await panel.tell({ type: 'completions', query: Number(asked?.query), items });
      await input().press('ArrowDown');
      assert.equal(await panel.page.locator('.completions [aria-selected="true"]').innerText(), 'bag.ts');
      await input().press('Enter');
      assert.deepEqual(
        (await panel.sentMessages('attach-item')).map(({ item }) => item),
        ['file:2'],
      );
      // Typing on at once must not lose or double anything.
      await input().pressSequentially('please');
      assert.equal(await input().inputValue(), 'look at @bag.ts please');
      assert.equal((await panel.sentMessages('draft')).at(-1)?.text, 'look at @bag.ts please');
      assert.deepEqual(await panel.sentMessages('send'), []);
    });

    for (const [arrived, answer] of [
      ['the list has arrived', undefined],
      ['the files of the list have arrived', []],
    ] as const) {
      it(`composer: Enter before ${arrived} sends the message with the mention to look up`, async () => {
        await input().pressSequentially('look at @ba');
        const query = Number((await panel.sentMessages('complete')).at(-1)?.query);
        if (answer) await panel.tell({ type: 'completions', query, items: answer });
        await input().press('Enter');
        assert.deepEqual((await panel.sentMessages('send'))[0], {
          type: 'send',
          text: 'look at @ba',
          mention: { from: 8, text: 'ba' },
        });
        assert.equal(await input().inputValue(), '');
      });
    }

    it('composer: Enter sends a command that is typed completely, and completes one that is not', async () => {
      const typed = async (text: string) => {
        await typeInto(input(), text);
        const query = Number((await panel.sentMessages('complete')).at(-1)?.query);
        const items = [{ id: 'command:compact', label: '/compact', icon: 'fold', insert: '/compact ' }];
        await panel.tell({ type: 'completions', query, items });
        await input().press('Enter');
        return (await panel.sentMessages('send')).map(({ text }) => text);
      };
      assert.deepEqual(await typed('/comp'), []);
      assert.equal(await input().inputValue(), '/compact ');
      assert.deepEqual(await typed('/compact'), ['/compact']);
      assert.equal(await input().inputValue(), '');
    });

    it('composer: while an answer is running, Enter queues and Escape stops', async () => {
      const open = { parts: [{ type: 'text' as const, text: 'So' }], model: MODEL };
      await panel.tell(snapshot(transcriptOf({ parts: [{ type: 'text', text: 'Q' }] }, open), 1));
      await input().pressSequentially('also this');
      await panel.page.getByRole('button', { name: 'Add to queue', exact: true }).waitFor();
      await input().press('Enter');
      assert.equal((await panel.sentMessages('send'))[0]?.text, 'also this');
      await panel.tell({ type: 'queue', messages: [{ id: 'q1', text: 'also this', attachments: [] }] });
      await panel.page.getByText('also this').waitFor();
      await panel.page.getByRole('button', { name: 'Edit queued message' }).click();
      await panel.page.getByRole('button', { name: 'Send now' }).click();
      await panel.page.getByRole('button', { name: 'Remove from the queue' }).click();
      for (const type of ['queue-edit', 'queue-send', 'queue-remove'])
        assert.deepEqual(await panel.sentMessages(type), [{ type, message: 'q1' }]);
      await input().press('Escape');
      assert.equal((await panel.sentMessages('stop')).length, 1);
    });

    it('composer: Up in an empty input recalls sent messages, and Down returns', async () => {
      await panel.tell(
        snapshot(
          transcriptOf(
            { parts: [{ type: 'text', text: 'first' }] },
            { parts: [{ type: 'text', text: 'A' }], ending: COMPLETE },
            { parts: [{ type: 'text', text: 'second' }] },
            { parts: [{ type: 'text', text: 'B' }], ending: COMPLETE },
          ),
          1,
        ),
      );
      const values: string[] = [];
      for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown']) {
        await input().press(key);
        values.push(await input().inputValue());
      }
      assert.deepEqual(values, ['second', 'first', 'first', 'second', '']);
      await typeInto(input(), 'mine');
      await input().press('ArrowUp');
      assert.equal(await input().inputValue(), 'mine');
    });

    it('composer: offers slash commands only at the start, and Escape closes the list', async () => {
      await input().pressSequentially('a/b');
      assert.deepEqual(
        (await panel.sentMessages('complete')).filter(({ trigger }) => trigger === '/'),
        [],
      );
      await typeInto(input(), '');
      await input().pressSequentially('/ex');
      const asked = (await panel.sentMessages('complete')).at(-1);
      const items = [{ id: 'command:explain', label: '/explain', icon: 'x', insert: '/explain ' }];
      await panel.tell({ type: 'completions', query: Number(asked?.query), items });
      await panel.page.locator('.completions').waitFor();
      await input().press('Escape');
      assert.equal(await panel.page.locator('.completions').count(), 0);
      await input().press('Enter');
      assert.equal((await panel.sentMessages('send'))[0]?.text, '/ex');
    });

    it('composer: accepts a pasted image and shows a small preview', async () => {
      await inElement(input(), 'the clipboard is invisible', async (area) => {
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
      const [attached] = await panel.sentMessages('attach-media');
      assert.deepEqual([attached?.name, attached?.mediaType], ['shot.png', 'image/png']);
      assert.match(String(attached?.preview), /^data:image\/png;base64,/);
    });

    it('code block: copies the source text', async () => {
      const source = 'const a = 1;\n\n\tconst b = "x  y";';
      const answer = { role: 'assistant' as const, parts: [text(`\`\`\`ts\n${source}\n\`\`\``)], ending: COMPLETE };
      await panel.tell(snapshot(transcriptOf(user, answer)));
      await panel.page.locator('.hljs-keyword').first().waitFor();
      await panel.page.getByRole('button', { name: 'Copy code' }).click();
      await panel.page.getByRole('button', { name: 'Insert at cursor' }).click();
      assert.equal((await panel.sentMessages('copy'))[0]?.text, source);
      assert.deepEqual(await panel.sentMessages('code'), [
        { type: 'code', action: 'insert', text: source, language: 'ts' },
      ]);
    });

    it('tool card: sends each decision for a waiting call', async () => {
      await panel.tell(...(STATES.tools ?? []));
      for (const name of ['Allow once', 'Allow in this conversation', 'Always allow']) {
        await panel.page.getByRole('button', { name, exact: true }).click();
      }
      await typeInto(panel.page.getByRole('textbox', { name: 'Reason' }), 'No.');
      await panel.page.getByRole('button', { name: 'Deny' }).click();
      assert.deepEqual(
        (await panel.sentMessages('decide')).map(({ decision }) => decision),
        [{ type: 'once' }, { type: 'session' }, { type: 'always' }, { type: 'deny', reason: 'No.' }],
      );
    });

    it('tool card: states why a call always needs approval, and offers no permanent permission', async () => {
      await panel.tell(...(STATES.cautioned ?? []));
      await panel.page.getByText('.vscode/tasks.json controls an editor').waitFor();
      assert.equal(await panel.page.getByRole('button', { name: 'Allow once' }).count(), 1);
      for (const name of ['Allow in this conversation', 'Always allow']) {
        assert.equal(await panel.page.getByRole('button', { name, exact: true }).count(), 0, name);
      }
    });

    it('tool card: shows each character of a command, and its end for any length', async () => {
      await panel.tell(...(STATES['long-command'] ?? []));
      const card = panel.page.locator('.tool.asking');
      await card.getByText('⟨U+202E⟩').waitFor();
      assert.match(await card.locator('pre').first().innerText(), /^echo 0⟨U\+200B⟩⟨U\+202E⟩⟨U\+0015⟩\necho 1\n/);
      assert.match(await card.locator('pre').last().innerText(), /echo 99; rm -r x$/);
      const more = card.getByRole('button', { name: /^… \d+ more lines \(\d+ characters\): show all$/ });
      await more.click();
      assert.equal((await card.locator('pre').first().innerText()).split('\n').length, 100);
      const end = await inElement(
        card.locator('pre').first(),
        'layout and style are no text',
        (pre) => pre.scrollHeight - pre.clientHeight,
      );
      assert.equal(end, 0);
    });

    it('message: switches versions, edits and answers again', async () => {
      await panel.tell(...(STATES.branch ?? []));
      assert.match(await panel.page.locator('.message.assistant .versions').innerText(), /2\/3/);
      await panel.page.getByRole('button', { name: 'Previous version' }).click();
      await panel.page.getByRole('button', { name: 'Regenerate' }).click();
      await panel.page.locator('.message.user').hover();
      await panel.page.getByRole('button', { name: 'Edit message' }).click();
      await typeInto(panel.page.locator('.edit-box textarea'), 'Name it better.');
      await panel.page.locator('.edit-box textarea').press('Enter');
      assert.deepEqual(await panel.sentMessages('select'), [{ type: 'select', message: 'a1' }]);
      assert.deepEqual(await panel.sentMessages('regenerate'), [{ type: 'regenerate', message: 'a2' }]);
      assert.deepEqual(await panel.sentMessages('edit'), [{ type: 'edit', message: 'u', text: 'Name it better.' }]);
    });

    it('message: an edit and plan mode remain while the page is hidden, and an edit waits for a running answer', async () => {
      const { page } = panel;
      const box = page.locator('.edit-box textarea');
      const begin = async (state: readonly ToPage[] = []) => {
        await panel.tell(...state);
        await page.locator('.message.user').first().waitFor();
      };
      await begin(STATES.branch);
      await page.getByRole('button', { name: 'Plan' }).click();
      await page.locator('.message.user').hover();
      await page.getByRole('button', { name: 'Edit message' }).click();
      await typeInto(box, 'Name it better.');
      await panel.reload();
      await begin(STATES.branch);
      assert.equal(await box.inputValue(), 'Name it better.');
      assert.equal(await page.getByRole('button', { name: 'Plan' }).getAttribute('aria-pressed'), 'true');
      assert.equal(await inElement(box, 'the focus is no text', (area) => area === document.activeElement), false);
      const running = { id: 'a4', parent: 'u', role: 'assistant', parts: [], createdAt: 4 } as const;
      await panel.tell(patches(0, { type: 'add', message: running }));
      await page.getByText('Send it when the answer has ended.').waitFor();
      await box.press('Enter');
      assert.deepEqual(await panel.sentMessages('edit'), []);
      assert.equal(await box.inputValue(), 'Name it better.');
    });
  });
});
