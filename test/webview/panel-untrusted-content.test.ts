import assert from 'node:assert/strict';
import { inPage } from '../host/person.ts';
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

const text = (value: string) => ({ type: 'text' as const, text: value });
const user = { role: 'user' as const, parts: [text('Question')] };
const SET = { type: 'model' as const, model: VIEW };

describe('content of a model in the chat page', () => {
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

  for (const policy of [true, false]) {
    it(`untrusted content: nothing loads, runs or navigates ${policy ? 'with' : 'even without'} the content security policy`, async () => {
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
        const found = await inPage(strange.page, 'the document is inspected', () => {
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

  it('untrusted content: input and output of tools are shown as text', async () => {
    const evil = `<img src="${host.url}/tool" onerror="alert(1)">\u202e`;
    const tool = {
      ...{ type: 'tool' as const, id: 'c', name: evil, origin: evil, changes: true, text: JSON.stringify({ evil }) },
      state: { type: 'done' as const, output: evil },
    };
    const before = host.strangers.length;
    await panel.tell(SET, snapshot(transcriptOf(user, { role: 'assistant', parts: [tool], ending: COMPLETE })));
    await panel.page.locator('.tool .toggle').click();
    assert.match(await panel.page.locator('.tool').innerText(), /<img src=/);
    assert.match(await panel.page.locator('.tool').innerText(), /⟨U\+202E⟩/);
    assert.deepEqual(host.strangers.slice(before), []);
  });

  it('untrusted content: a link is sent to the host with its text, and the page does not navigate', async () => {
    const answer = {
      role: 'assistant' as const,
      parts: [text('[good.example](https://evil.example/x)')],
      ending: COMPLETE,
    };
    await panel.tell(SET, snapshot(transcriptOf(user, answer)));
    await panel.page.locator('.markdown a').click();
    assert.deepEqual(await panel.sentMessages('open-link'), [
      { type: 'open-link', href: 'https://evil.example/x', shown: 'good.example' },
    ]);
    assert.equal(new URL(panel.page.url()).pathname, '/panel.html');
  });

  it('untrusted content: messages from a frame of another origin are ignored', async () => {
    await panel.tell(SET, snapshot(transcriptOf(user)));
    await inPage(panel.page, 'the host sends messages', () =>
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
