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

const SAID = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Question' }] };

/** Three defenses against the text of a model: each must work if the previous ones fail. */
/** What the corpus loads if nothing prevents it. */
const HARMFUL = ['/script', '/onerror', '/img', '/iframe', '/style', '/import', '/poster|/video', '/object', '/link'];

describe('each defense of the chat page alone', () => {
  let host: PanelHost;
  let elsewhere = '';
  before(async () => {
    host = await startPanelHost();
    // The same server under a name that is another origin to the page.
    elsewhere = host.url.replace('127.0.0.1', 'localhost');
  });
  after(() => host.close());

  const corpus = () =>
    Object.entries(HOSTILE).map(([name, text]) => ({ name, html: text.replaceAll('HOST', elsewhere) }));

  async function shown(panel: Panel, text: string): Promise<string> {
    const answer = {
      role: 'assistant' as const,
      parts: [{ type: 'text' as const, text }],
      ending: COMPLETE,
      model: MODEL,
    };
    await panel.tell({ type: 'model', model: VIEW }, snapshot(transcriptOf(SAID, answer)));
    return panel.page.locator('.markdown').innerText();
  }

  it('Markdown renderer: shows tags as text, names images and shows hidden characters', async () => {
    const panel = await host.open();
    for (const tag of ['<script>', '<img src=x onerror=alert(1)>', '<style>', '<form action=x>', '<b>', '</div>']) {
      for (const text of [tag, `Text ${tag} text`, `# ${tag}`, `- ${tag}`, `| ${tag} |\n|---|\n| ${tag} |`]) {
        assert.ok((await shown(panel, text)).includes(tag), text);
      }
    }
    const picture = await shown(panel, `![A chart](${elsewhere}/chart.png)`);
    assert.match(picture, /A chart · localhost:\d+/);
    assert.equal(await panel.page.locator('.markdown .image-chip').count(), 1);
    const hidden = await shown(panel, HOSTILE['long bidi'] ?? '');
    assert.match(hidden, /⟨U\+202E⟩gnp\.exe⟨U\+202C⟩ text ⟨U\+2066⟩hidden⟨U\+2069⟩/);
    assert.match(hidden, /rm ⟨U\+202E⟩-rf/);
    assert.match(await shown(panel, '```sh\nrm \u202e-rf\n```'), /rm ⟨U\+202E⟩-rf/);
    await shown(panel, '```"><em>x</em>\ncode\n```');
    assert.equal(await panel.page.locator('.markdown em').count(), 0);
    await panel.close();
  });

  it('sanitizer: keeps only permitted elements of HTML that passed the renderer', async () => {
    const page = await (await host.browser.newContext()).newPage();
    await page.goto(`${host.url}/panel.html?open`);
    await page.addScriptTag({ url: '/writer.js', type: 'module' });
    await page.waitForFunction(() => 'render' in window);
    const before = host.strangers.length;
    const more = [
      {
        name: 'attributes',
        html: '<p style="color:red" id="x" name="y" data-x="1" aria-label="z" onclick="x()">t</p>',
      },
      { name: 'looks', html: '<span class="card error">t</span><span class="image-chip">t</span>' },
      { name: 'addresses', html: '<a href="javascript:x()">t</a><a href="ftp://x">t</a><a href="//x.example">t</a>' },
    ];
    const left = await inPage(
      page,
      'the document is inspected',
      (list) => {
        const { render } = window as unknown as { render: (tokens: unknown[]) => DocumentFragment };
        return list.map(({ name, html }) => {
          // As a token whose text needs no escaping, it goes through the renderer as it is.
          const token = { type: 'text', raw: html, text: html, escaped: true };
          const root = document.createElement('div');
          root.append(render([{ type: 'paragraph', raw: html, text: html, tokens: [token] }]));
          document.body.append(root);
          const all = [...root.querySelectorAll('*')];
          return {
            name,
            text: root.innerHTML,
            tags: all.map((element) => element.localName),
            attributes: all.flatMap((element) => element.getAttributeNames()),
            links: all.flatMap((element) => element.getAttribute('href') ?? []),
            classes: all.flatMap((element) => element.getAttribute('class') ?? []),
          };
        });
      },
      [...corpus(), ...more],
    );
    const tags =
      /^(?:p|br|hr|strong|em|del|code|pre|blockquote|a|span|h[1-6]|ul|ol|li|input|table|thead|tbody|tr|th|td)$/;
    const attributes = /^(?:href|title|class|start|align|type|checked|disabled|data-language)$/;
    for (const { name, ...found } of left) {
      assert.deepEqual(
        found.tags.filter((tag) => !tags.test(tag)),
        [],
        `${name}: ${found.text}`,
      );
      assert.deepEqual(
        found.attributes.filter((each) => !attributes.test(each)),
        [],
        `${name}: ${found.text}`,
      );
      assert.deepEqual(
        found.links.filter((href) => !/^(?:https?:\/\/|mailto:)/.test(href)),
        [],
        `${name}: ${found.text}`,
      );
      assert.deepEqual(
        found.classes.filter((each) => !/^(?:image-chip|task)$/.test(each)),
        [],
        `${name}: ${found.text}`,
      );
    }
    await page.waitForLoadState('networkidle');
    assert.deepEqual(host.strangers.slice(before), []);
  });

  it('content security policy: HTML that passed the sanitizer loads and runs nothing', async () => {
    const loaded: Record<string, string[]> = {};
    const ran: Record<string, number> = {};
    const mine = { name: 'ours', html: '<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>' };
    for (const policy of [false, true]) {
      const { page, close } = await host.open({ policy });
      const before = host.strangers.length;
      await inPage(
        page,
        'the document is inspected',
        (list) => {
          for (const { html } of list) {
            // Navigation of the page is not a load.
            if (html.includes('http-equiv')) continue;
            const root = document.createElement('div');
            root.innerHTML = html;
            document.body.append(root);
            for (const script of root.querySelectorAll('script')) {
              const run = document.createElement('script');
              run.textContent = script.textContent;
              root.append(run);
            }
          }
        },
        [...corpus(), mine],
      );
      // Without the policy they load and run: the corpus is effective.
      const harmful = policy ? [] : HARMFUL;
      const arrived = () => host.strangers.slice(before).join('\n');
      while (!harmful.every((path) => new RegExp(`GET (?:${path})\\b`).test(arrived()))) {
        await inPage(page, 'drawn is no event', () => new Promise(requestAnimationFrame));
      }
      await page.waitForLoadState('networkidle');
      // The page may load its own files; `x` is none.
      loaded[String(policy)] = host.strangers.slice(before).filter((request) => request !== 'GET /x');
      ran[String(policy)] = await inPage(page, 'the document is inspected', () => ('ran' in window ? 1 : 0));
      await close();
    }
    assert.deepEqual(loaded.true, []);
    assert.deepEqual(ran, { false: 1, true: 0 });
  });
});
