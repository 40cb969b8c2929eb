import { docPicture } from '../host/doc-pictures.ts';
import { inPage } from '../host/person.ts';
import { longHistory, STATES } from './gallery-states.ts';
import { type OpenOptions, type PanelHost, snapshot, startPanelHost, transcriptOf } from './panel-page.ts';

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

describe('chat page gallery', () => {
  let host: PanelHost;
  before(async () => {
    host = await startPanelHost();
  });
  after(() => host.close());

  for (const [name, [state, options]] of Object.entries(SHOTS)) {
    it(`chat page gallery: shows ${name}`, async () => {
      const panel = await host.open({ height: 640, reducedMotion: true, ...options });
      await panel.tell(...(state === 'long-history' ? longHistory() : (STATES[state] ?? [snapshot(transcriptOf())])));
      if (state === 'reasoning') await panel.page.locator('.reasoning summary').click();
      await inPage(panel.page, 'the document is inspected', () => document.fonts.ready);
      // Messages, colours of code and formulas are drawn one after the other.
      await panel.page.waitForFunction(() => {
        const late = '.undrawn, [aria-busy="false"] .code[data-language="ts"] code:not(:has(span))';
        return document.querySelector(late) === null && !document.body.innerText.includes('$$');
      });
      const shown = () => panel.page.locator('body').innerText();
      await docPicture(panel.page, `chat/${name}`, shown, 'test/webview/gallery.test.ts');
      await panel.close();
    });
  }
});
