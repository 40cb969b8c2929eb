import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { errorCard } from '../../src/chat/page/error-card.ts';
import type { Patch } from '../../src/chat/transcript.ts';
import { vendorError } from '../../src/wire/errors/vendor-errors.ts';
import { inElement, inPage, setText, tabTo } from '../host/person.ts';
import { STATES } from './gallery-states.ts';
import { COMPLETE, type Panel, type PanelHost, snapshot, startPanelHost, transcriptOf, VIEW } from './panel-page.ts';
import { THEMES, type ThemeName } from './themes.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const text = (value: string) => ({ type: 'text' as const, text: value });
const user = { role: 'user' as const, parts: [text('Question')] };
const SET = { type: 'model' as const, model: VIEW };
const append = (value: string): Patch => ({ type: 'append', message: 'm1', part: 0, kind: 'text', text: value });
const patches = (from: number, ...list: readonly Patch[]) =>
  ({ type: 'patches', session: 's', from, seq: from + list.length, patches: list }) as const;

describe('accessibility of the chat page', () => {
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

  /** The narrowest side bar, its default width, and a tab, in pixels. */
  const WIDTHS = [240, 297, 820];
  const [FIRST, ...OTHERS] = Object.keys(THEMES) as ThemeName[];
  // Each width in one theme, each theme in one width: the next test shows that no colour depends on the width.
  const LOOKS = [...WIDTHS.map((width) => [FIRST, width] as const), ...OTHERS.map((theme) => [theme, 820] as const)];
  for (const [theme = 'dark', width] of LOOKS) {
    it(`chat page: axe reports no violation in any state: ${theme}, ${width} px`, async () => {
      const dressed = await host.open({ theme, width });
      const source = readFileSync(AXE, 'utf8');
      // The page's policy forbids added scripts: the debugger may evaluate them.
      await inPage(dressed.page, 'the document is inspected', source);
      const check = async (name: string) => {
        const faults = await inPage(dressed.page, 'the checker runs in the page', async () => {
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
      };
      for (const [name, messages] of Object.entries(STATES)) {
        await dressed.tell(...messages);
        await check(name);
      }
      await dressed.page.getByRole('textbox', { name: 'Message' }).click();
      await dressed.page.keyboard.press('Control+f');
      await dressed.page.keyboard.type('e');
      await dressed.page
        .getByRole('search')
        .getByText(/^\d+ of \d+$/)
        .waitFor();
      await check('find');
      await dressed.close();
    });
  }

  it('chat page: a style for a width changes no colour, and an element that only narrow pages show has one of those beside it', async () => {
    const narrow = await host.open({ width: Math.min(...WIDTHS) });
    const found: string[] = [];
    for (const messages of Object.values(STATES)) {
      await narrow.tell(...messages);
      found.push(
        ...(await inPage(narrow.page, 'layout and style are no text', () => {
          const media = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]);
          const widths = media.filter((each) => each instanceof CSSMediaRule && each.conditionText.includes('width'));
          const rules = widths.flatMap((each) => [...(each as CSSMediaRule).cssRules] as CSSStyleRule[]);
          const colours = rules.filter(({ cssText }) => /color|background|fill|stroke|opacity|vscode/.test(cssText));
          const shown = rules.filter(({ style }) => style.display !== '' && style.display !== 'none');
          const own = shown.flatMap(({ selectorText }) => [...document.querySelectorAll(selectorText)]);
          const isOwn = (element: Element) => {
            const { color, backgroundColor, opacity } = getComputedStyle(element);
            const parent = element.parentElement ?? element;
            const others = [parent, ...parent.children].filter((each) => each !== element);
            const known = others.some((each) => getComputedStyle(each).color === color);
            return !known || backgroundColor !== 'rgba(0, 0, 0, 0)' || opacity !== '1';
          };
          if (shown.length === 0) return ['no style shows an element'];
          return [...colours.map(({ cssText }) => cssText), ...own.filter(isOwn).map(({ outerHTML }) => outerHTML)];
        })),
      );
    }
    assert.deepEqual([...new Set(found)], []);
    assert.equal(await narrow.page.locator('.gauge .short').count(), 1);
    await narrow.close();
  });

  it('chat page: each control has a name and its role', async () => {
    await panel.tell(...(STATES.tools ?? []));
    const tree = await panel.page.locator('body').ariaSnapshot();
    for (const expected of [
      /- log "Conversation"/,
      /- article "Answer of Up Large"/,
      /- region "Tool edit_file, src\/basket\.ts"/,
      /- group "Allow edit_file\?"/,
      /- button "Allow once"/,
      /- textbox "Reason for denying"/,
      /- status: A tool waits for your decision\./,
      /- textbox "Message"/,
      /- button "Attach"/,
      /- button "Stop"/,
    ]) {
      assert.match(tree, expected);
    }
    assert.doesNotMatch(tree, /- button\s*$/m, 'a button without a name');
  });

  it('chat page: announces the start of an answer and its text once, and nothing in between', async () => {
    await panel.tell(SET, snapshot(transcriptOf(user)));
    await inPage(panel.page, 'the document is inspected', () => {
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
    const heard = await inPage(
      panel.page,
      'the document is inspected',
      () => (window as unknown as { heard: string[] }).heard,
    );
    const words = Array.from({ length: 20 }, (_, step) => `word${step} `).join('');
    assert.deepEqual(
      heard.filter((line) => line !== '' && !line.startsWith('The answer continues')),
      ['The answer begins.', words],
    );
  });

  for (const event of [{ isComposing: true }, { keyCode: 229 }]) {
    it(`chat page: sends nothing during input composition: ${JSON.stringify(event)}`, async () => {
      await panel.tell(SET, snapshot(transcriptOf(user, { role: 'assistant', parts: [text('x')], ending: COMPLETE })));
      await setText(panel.page.locator('.composer textarea'), 'にほん', 'an input method composes it');
      const press = (selector: string) =>
        inPage(
          panel.page,
          'the document is inspected',
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
      assert.deepEqual(await panel.sentMessages('send'), []);
      assert.deepEqual(await panel.sentMessages('edit'), []);
      await panel.page.locator('.composer textarea').press('Enter');
      assert.equal((await panel.sentMessages('send')).length, 1);
    });
  }

  it('chat page: can be used with the keyboard alone, from the transcript to Send', async () => {
    await panel.tell(...(STATES.answer ?? []));
    await panel.page.locator('.transcript').focus();
    const names: string[] = [];
    for (let step = 0; step < 20; step++) {
      await panel.page.keyboard.press('Tab');
      names.push(
        await inPage(
          panel.page,
          'the focus is no text',
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

  it('chat page: fits 240 pixels and a zoom of 200 % without horizontal clipping', async () => {
    for (const width of [240, 320, 420]) {
      const narrow = await host.open({ width });
      for (const [name, messages] of Object.entries(STATES)) {
        await narrow.tell(...messages);
        const over = await inPage(narrow.page, 'layout and style are no text', () => {
          const scrolls = (element: Element) => element.closest('pre, table, .gist, .name, .figures, .unseen') !== null;
          return [...document.querySelectorAll('body *')]
            .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1 && !scrolls(element))
            .map((element) => element.outerHTML.slice(0, 120));
        });
        assert.deepEqual(over, [], `${name} at ${width}`);
      }
      await narrow.close();
    }
  });

  it('chat page: respects reduced motion', async () => {
    const still = await host.open({ reducedMotion: true });
    await still.tell(...(STATES.waiting ?? []));
    const moving = await inPage(
      still.page,
      'the document is inspected',
      () => document.getAnimations().filter((each) => each.playState === 'running').length,
    );
    assert.equal(moving, 0);
    await still.close();
  });

  it('chat page: shows focus and borders with forced colors', async () => {
    const forced = await host.open({ forcedColors: true });
    await forced.tell(...(STATES.tools ?? []));
    await forced.page.locator('.transcript').focus();
    for (let step = 0; step < 6; step++) {
      await forced.page.keyboard.press('Tab');
      const ring = await inPage(forced.page, 'the focus is no text', () => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement ?? document.body);
        return { outlineStyle, outlineWidth: Number.parseFloat(outlineWidth) };
      });
      assert.notEqual(ring.outlineStyle, 'none');
      assert.ok(ring.outlineWidth >= 1);
    }
    const edges = await inPage(forced.page, 'layout and style are no text', () =>
      [...document.querySelectorAll('.tool, .bubble')].map((element) => getComputedStyle(element).borderTopStyle),
    );
    assert.deepEqual([...new Set(edges)], ['solid']);
    await forced.close();
  });

  for (const theme of Object.keys(THEMES) as ThemeName[]) {
    it(`chat page: a primary button with the focus is seen: ${theme}`, async () => {
      const dressed = await host.open({ theme });
      await dressed.tell(...(STATES['first-run'] ?? []));
      const button = dressed.page.locator('.ways button.primary');
      const ring = () =>
        inElement(button, 'layout and style are no text', (each) => {
          const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(each);
          return [outlineStyle, outlineWidth, outlineOffset];
        });
      const before = await ring();
      await tabTo(dressed.page, button);
      const [style, width, offset] = await ring();
      assert.notDeepEqual([style, width, offset], before);
      assert.equal(style, 'solid');
      // In the button it would have the colour of the button.
      assert.ok(Number.parseFloat(offset ?? '') >= 1, `${width} at ${offset}`);
      await dressed.close();
    });
  }

  it('chat page: uses the language of the editor', async () => {
    const german = await host.open({ language: 'de' });
    await german.tell({ type: 'model', model: null }, snapshot(transcriptOf()));
    assert.equal(await german.page.locator('.empty h1').innerText(), 'Fragen Sie zu Ihrem Code');
    await german.close();
  });

  it('chat page: translates errors and keeps the text of the provider', async () => {
    const german = await host.open({ language: 'de' });
    const failure = { provider: 'acme', status: 402, bodyText: '{"error":{"message":"Top up first."}}', byok: true };
    const error = errorCard(vendorError(failure), 0);
    await german.tell(
      { type: 'model', model: VIEW },
      snapshot(transcriptOf({}, { ending: { type: 'failed', error } })),
    );
    const card = german.page.getByRole('alert');
    assert.match(await card.innerText(), /Ihr Konto bei acme hat kein Guthaben mehr: Top up first\./);
    assert.match(await card.innerText(), /Laden Sie Ihr Konto beim Anbieter auf/);
    await german.close();
  });
});
