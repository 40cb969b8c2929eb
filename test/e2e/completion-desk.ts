import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openFile, runCommand } from '../host/workbench.ts';
import { type ReceivedRequest, startUpstream, type Upstream } from '../upstream/upstream.ts';
import { type Desk, type DeskOptions, setDesk } from './desk.ts';

export const GHOST = '.ghost-text-decoration, .ghost-text';
/** The status bar when completions rest and know their model. */
const READY = '.statusbar-item[aria-label^="Svc: Completions by"]';

/** What is seen of the ghost text: each text that was on screen, in order, without repetitions. */
export interface Seen {
  readonly texts: () => Promise<readonly string[]>;
}

/** A person at a real editor, and a model that says what it is told to. */
export interface CompletionDesk {
  readonly desk: Desk;
  readonly page: Page;
  readonly upstream: Upstream;
  /** The pieces of the next answers; a promise among them holds back what follows. */
  answer: readonly (string | Promise<void>)[];
  /** Anything but 200 is answered with an error body. */
  status: number;
  /** Requests for a completion so far. */
  asked(): readonly ReceivedRequest[];
  /** A file of its own, open, with the caret behind its text. */
  edit(name: string, content: string): Promise<void>;
  type(text: string): Promise<void>;
  /** Waits until the ghost text on screen is this, with LF. */
  shows(text: string): Promise<void>;
  gone(): Promise<void>;
  rests(): Promise<void>;
  saved(name: string): Promise<string>;
  watch(): Promise<Seen>;
  close(): Promise<void>;
}

export async function setCompletionDesk(options: Pick<DeskOptions, 'settings'> = {}): Promise<CompletionDesk> {
  const upstream = await startUpstream((request, response) => say(self, request, response));
  const options_ = { baseURL: `${upstream.url}/v1`, fimURL: `${upstream.url}/v1/fim` };
  const models = { coder: { name: 'Coder', cost: { input: 1, output: 2 } } };
  const desk = await setDesk({
    ...options,
    config: () => ({
      provider: { model: { name: 'Model', fim: 'mistral', options: options_, models } },
      completionModel: 'model/coder',
    }),
  });
  const page = await desk.open();
  const asked = () => upstream.requests.filter(({ path }) => path.includes('/fim/'));
  const self: CompletionDesk = {
    desk,
    page,
    upstream,
    answer: [],
    status: 200,
    asked,
    edit: async (name, content) => {
      writeFileSync(join(desk.workspace, name), content);
      await openFile(page, name);
      await page.keyboard.press('ControlOrMeta+End');
    },
    type: (text) => page.keyboard.type(text, { delay: 40 }),
    shows: async (text) => {
      await page.waitForFunction(
        ([wanted, read]) => new Function(`return (${read})()`)() === wanted,
        [text, `${ghost}`],
      );
    },
    gone: () => page.locator(GHOST).first().waitFor({ state: 'detached' }),
    rests: () => page.locator(READY).first().waitFor(),
    saved: async (name) => {
      await page.keyboard.press('ControlOrMeta+S');
      await page.locator(`.tab.active:not(.dirty)[data-resource-name="${name}"]`).waitFor();
      return readFileSync(join(desk.workspace, name), 'utf8');
    },
    watch: () => watch(page),
    close: async () => {
      await desk.close();
      await upstream.close();
    },
  };
  await self.rests();
  return self;
}

/** Closes the editor without saving, for the next test. */
export async function clear(each: CompletionDesk): Promise<void> {
  each.status = 200;
  each.answer = [];
  await runCommand(each.page, 'View: Revert and Close Editor');
}

/** Runs in the page: the ghost text on screen, lines joined with LF. */
function ghost(): string {
  const read = (element: Element): string => (element.textContent ?? '').replaceAll('\u00a0', ' ');
  const inline = [...document.querySelectorAll('.view-lines .ghost-text-decoration, .view-lines .ghost-text')];
  const first = inline.map(read).join('');
  const below = [...document.querySelectorAll('.suggest-preview-text .view-line')].map(read);
  return [first, ...below].join('\n');
}

async function watch(page: Page): Promise<Seen> {
  await page.evaluate((read) => {
    const texts: string[] = [];
    const now = new Function(`return (${read})()`);
    const look = () => {
      const text: string = now();
      if (text !== texts.at(-1)) texts.push(text);
    };
    look();
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    Object.assign(globalThis, { ghostTexts: texts });
  }, `${ghost}`);
  return { texts: () => page.evaluate(() => (Reflect.get(globalThis, 'ghostTexts') as string[]).slice()) };
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

async function say(desk: CompletionDesk, request: ReceivedRequest, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'coder', object: 'model' }] }));
    return;
  }
  if (desk.status !== 200) {
    response.writeHead(desk.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'Payment required: no credit left.' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of desk.answer) {
    if (typeof piece === 'string') response.write(chunk({ delta: { content: piece }, finish_reason: null }));
    else await piece;
  }
  response.end(`${chunk({ delta: {}, finish_reason: 'stop' }, { usage: USAGE })}data: [DONE]\n\n`);
}

function chunk(choice: object, more: object = {}): string {
  const body = { id: 'x', object: 'fim.completion.chunk', model: 'coder', choices: [{ index: 0, ...choice }], ...more };
  return `data: ${JSON.stringify(body)}\n\n`;
}
