import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inPage } from '../host/person.ts';
import { ARTIFACTS } from '../host/workbench.ts';
import { longHistory, STATES } from './gallery-states.ts';
import { type OpenOptions, type PanelHost, snapshot, startPanelHost, transcriptOf } from './panel-page.ts';

const PICTURES = join(import.meta.dirname, '..', '..', 'docs', 'images', 'chat');

/** A picture of each state as docs/chat.md shows it: the state, and how the panel is opened. */
const SHOTS: Readonly<Record<string, readonly [state: string, options: OpenOptions]>> = {
  empty: ['empty', { theme: 'dark' }],
  'first-run': ['first-run', { theme: 'light' }],
  answer: ['answer', { theme: 'dark' }],
  streaming: ['streaming', { theme: 'light' }],
  reasoning: ['reasoning', { theme: 'dark' }],
  tools: ['tools', { theme: 'light' }],
  'several-waiting': ['several-waiting', { theme: 'dark' }],
  'changed-files': ['changed-files', { theme: 'light', width: 297 }],
  'tool-question': ['tool-question', { theme: 'dark' }],
  composer: ['composer', { theme: 'dark', width: 300 }],
  plan: ['plan', { theme: 'light' }],
  formulas: ['formulas', { theme: 'dark' }],
  error: ['error', { theme: 'dark' }],
  incomplete: ['incomplete', { theme: 'light' }],
  branch: ['branch', { theme: 'dark' }],
  attachments: ['attachments', { theme: 'light' }],
  summary: ['summary', { theme: 'dark' }],
  'long-history': ['long-history', { theme: 'light' }],
  narrow: ['tools', { theme: 'dark', width: 240 }],
  'high-contrast': ['answer', { theme: 'hc-dark' }],
  'high-contrast-light': ['tools', { theme: 'hc-light' }],
  german: ['error', { theme: 'light', language: 'de' }],
  'full-tab': ['answer', { theme: 'light', width: 1000 }],
};

/** Visible texts of the pictures in docs/images/chat. A page that shows others needs new pictures. */
const TEXTS = join(PICTURES, 'texts.json');

describe('chat page gallery', () => {
  let host: PanelHost;
  const texts: Record<string, string> = existsSync(TEXTS) ? JSON.parse(readFileSync(TEXTS, 'utf8')) : {};
  before(async () => {
    host = await startPanelHost();
  });
  after(async () => {
    await host.close();
    if (process.env.SVC_DOCS_IMAGES) writeFileSync(TEXTS, `${JSON.stringify(texts, undefined, 2)}\n`);
  });

  for (const [name, [state, options]] of Object.entries(SHOTS)) {
    it(`chat page gallery: shows ${name}`, async () => {
      const panel = await host.open({ height: 640, reducedMotion: true, ...options });
      await panel.tell(...(state === 'long-history' ? longHistory() : (STATES[state] ?? [snapshot(transcriptOf())])));
      if (state === 'reasoning') await panel.page.locator('.reasoning summary').click();
      await inPage(panel.page, 'the document is inspected', () => document.fonts.ready);
      await panel.page.waitForFunction(
        () =>
          document.querySelector('.undrawn, [aria-busy="false"] .code[data-language="ts"] code:not(:has(span))') ===
          null,
      );
      mkdirSync(ARTIFACTS, { recursive: true });
      const path = join(ARTIFACTS, `chat-${name}.png`);
      await panel.page.screenshot({ path });
      const text = await panel.page.locator('body').innerText();
      await panel.close();
      if (process.env.SVC_DOCS_IMAGES) {
        mkdirSync(PICTURES, { recursive: true });
        copyFileSync(path, join(PICTURES, `${name}.png`));
        texts[name] = text;
      }
      const command = 'SVC_DOCS_IMAGES=1 npm test -- test/webview/gallery.test.ts';
      assert.equal(texts[name], text, `docs/images/chat/${name}.png shows something else. Make it again: ${command}`);
    });
  }
});
