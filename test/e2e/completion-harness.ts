import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { addEvidence, describeRequests } from '../host/evidence.ts';
import { reportFailure } from '../host/failure-report.ts';
import { inPage } from '../host/person.ts';
import { came, LOOK_AGAIN, OPENS_WITHIN_MS, openFile, WITHIN_MS } from '../host/workbench.ts';
import { type ReceivedRequest, startUpstream } from '../upstream/upstream.ts';
import { CLOSE_KEY } from './profile.ts';
import { startVSCodeHarness, type VSCodeHarness, type VSCodeHarnessOptions } from './vscode-harness.ts';

/** Ghost text has another class while an item of the suggest widget is previewed. */
const GHOST = '.ghost-text-decoration, .ghost-text-decoration-preview, .ghost-text';
/** The status bar when completions rest and know their model. */
const READY = '.statusbar-item[aria-label^="Svc: Completions by"]';

type Pieces = readonly (string | Promise<void>)[];

/** The visible ghost texts in order, without repetitions. */
interface Seen {
  /** Ends the observation. */
  readonly texts: () => Promise<readonly string[]>;
}

/** A real editor and a scripted model. */
export interface CompletionHarness {
  readonly vscode: VSCodeHarness;
  readonly page: Page;
  /** The pieces of the answers to come; a promise among them holds back what follows. */
  answer: Pieces | ((prompt: string) => Pieces);
  /** Anything but 200 is answered with an error body. */
  status: number;
  /** Requests for a completion so far. */
  completionRequests(): readonly ReceivedRequest[];
  /** Opens a new file with the caret after its text, in the workspace or in a sibling folder. */
  edit(name: string, content: string, folder?: string): Promise<void>;
  type(text: string): Promise<void>;
  /** Waits until the ghost text on screen is this, with LF. */
  shows(text: string): Promise<void>;
  /** Waits until ghost text is on screen that ends so. */
  appears(end?: string): Promise<void>;
  gone(): Promise<void>;
  /** Presses Tab and waits until it is drawn; the next suggestion may then be visible. */
  accept(): Promise<void>;
  rests(): Promise<void>;
  saved(name: string): Promise<string>;
  watch(): Promise<Seen>;
  close(): Promise<void>;
}

interface CompletionHarnessOptions
  extends Pick<VSCodeHarnessOptions, 'settings' | 'folders' | 'otherExtensions' | 'createFolder'> {
  /** In addition to the completion model. */
  readonly providers?: Readonly<Record<string, unknown>>;
}

export async function startCompletionHarness(options: CompletionHarnessOptions = {}): Promise<CompletionHarness> {
  const upstream = await startUpstream((request, response) => sendAnswer(self, request, response));
  const connection = { baseURL: `${upstream.url}/v1`, fimURL: `${upstream.url}/v1/fim` };
  const models = { coder: { name: 'Coder', cost: { input: 1, output: 2 } } };
  const harness = await startVSCodeHarness({
    ...(options.settings ? { settings: options.settings } : {}),
    ...(options.folders ? { folders: options.folders } : {}),
    ...(options.otherExtensions ? { otherExtensions: options.otherExtensions } : {}),
    ...(options.createFolder ? { createFolder: options.createFolder } : {}),
    config: {
      provider: { ...options.providers, model: { name: 'Model', fim: 'mistral', options: connection, models } },
      completionModel: 'model/coder',
    },
  });
  const removeEvidence = addEvidence(() => ({ 'requests.txt': describeRequests(upstream.requests) }));
  const page = await harness.open();
  const gone = () => page.locator(GHOST).first().waitFor({ state: 'detached' });
  const self: CompletionHarness = {
    vscode: harness,
    page,
    answer: [],
    status: 200,
    completionRequests: () => upstream.requests.filter(({ path }) => path.includes('/fim/')),
    edit: async (name, content, beside) => {
      const file = join(harness.workspace, ...(beside === undefined ? [] : ['..', beside]), name);
      writeFileSync(file, content);
      await openFile(page, file);
      await page.keyboard.press('ControlOrMeta+End');
    },
    type: (text) => page.keyboard.type(text, { delay: 40 }),
    shows: (text) => showsGhost(page, text),
    appears: (end = '') => awaitGhost(page, 'endsWith', end),
    gone,
    accept: async () => {
      await page.keyboard.press('Tab');
      await nextFrame(page);
    },
    rests: () => page.locator(READY).first().waitFor(),
    saved: async (name) => {
      await page.keyboard.press('ControlOrMeta+S');
      await page.locator(`.tab.active:not(.dirty)[data-resource-name="${name}"]`).first().waitFor();
      return readFileSync(join(harness.workspace, name), 'utf8');
    },
    watch: () => watch(page),
    close: async () => {
      removeEvidence();
      await harness.close();
      await upstream.close();
    },
  };
  await page.locator(READY).first().waitFor();
  return self;
}

async function nextFrame(page: Page): Promise<void> {
  await inPage(
    page,
    'drawn is no event',
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  );
}

/** Closes the editor without saving, for the next test. */
export async function clear(each: CompletionHarness): Promise<void> {
  each.status = 200;
  each.answer = [];
  await closeEditor(each.page);
}

/** Waits until its tab is closed and the editor below has the focus: a late focus change would close Quick Open. */
async function closeEditor(page: Page): Promise<void> {
  const open = await page.locator('.tab').count();
  const limit = { ...LOOK_AGAIN, timeout: OPENS_WITHIN_MS };
  const closed = (before: number) => document.querySelectorAll('.tab').length < before;
  const end = Date.now() + WITHIN_MS;
  do {
    if (Date.now() > end) {
      // A hook that fails is not reported otherwise.
      await reportFailure('an editor that does not close');
      throw new Error('The editor did not close.');
    }
    await page.keyboard.press(CLOSE_KEY);
  } while (!(await came(page.waitForFunction(closed, open, limit))));
  // A slow machine may have closed another one too.
  await page.locator('.editor-instance .monaco-editor.focused, .editor-group-container.empty').first().waitFor();
}

/** Runs in the page: the ghost text on screen, lines joined with LF. */
function ghost(): string {
  const read = (element: Element): string => (element.textContent ?? '').replaceAll('\u00a0', ' ');
  const classes = ['ghost-text-decoration', 'ghost-text-decoration-preview', 'ghost-text'];
  const inline = [...document.querySelectorAll(classes.map((one) => `.view-lines .${one}`).join())];
  const first = inline.map(read).join('');
  const below = [...document.querySelectorAll('.suggest-preview-text .view-line')].map(read);
  return [first, ...below].join('\n');
}

/** Waits until the ghost text on screen is this, with LF. */
export async function showsGhost(page: Page, text: string): Promise<void> {
  await awaitGhost(page, 'equals', text);
}

async function awaitGhost(page: Page, how: 'equals' | 'endsWith', text: string): Promise<void> {
  const came = page.waitForFunction(
    ([rule, wanted, read]) => {
      const now: string = new Function(`return (${read})()`)();
      return rule === 'equals' ? now === wanted : now !== '' && now.endsWith(wanted ?? '');
    },
    [how, text, `${ghost}`],
    LOOK_AGAIN,
  );
  await came.catch(async ({ message }: Error) => {
    const seen = await inPage(page, 'says what was seen instead', ghost).catch(() => 'nothing: no answer');
    throw new Error(`${message} Ghost text that ${how} ${JSON.stringify(text)}; seen: ${JSON.stringify(seen)}`);
  });
}

async function watch(page: Page): Promise<Seen> {
  await inPage(
    page,
    'each text that was visible counts',
    (read) => {
      const texts: string[] = [];
      const now = new Function(`return (${read})()`);
      const look = () => {
        const text: string = now();
        if (text !== texts.at(-1)) texts.push(text);
      };
      look();
      const observer = new MutationObserver(look);
      observer.observe(document.body, { subtree: true, childList: true, characterData: true });
      const finish = () => {
        observer.disconnect();
        return texts;
      };
      Object.assign(globalThis, { finishWatching: finish });
    },
    `${ghost}`,
  );
  return {
    texts: () =>
      inPage(page, 'each text that was visible counts', () =>
        [...Reflect.get(globalThis, 'finishWatching')()].map(String),
      ),
  };
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

async function sendAnswer(
  harness: CompletionHarness,
  request: ReceivedRequest,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'coder', object: 'model' }] }));
    return;
  }
  if (harness.status !== 200) {
    response.writeHead(harness.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'Payment required: no credit left.' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const { prompt } = request.body;
  for (const piece of typeof harness.answer === 'function' ? harness.answer(`${prompt}`) : harness.answer) {
    if (typeof piece === 'string') response.write(chunk({ delta: { content: piece }, finish_reason: null }));
    else await piece;
  }
  response.end(`${chunk({ delta: {}, finish_reason: 'stop' }, { usage: USAGE })}data: [DONE]\n\n`);
}

function chunk(choice: object, more: object = {}): string {
  const body = { id: 'x', object: 'fim.completion.chunk', model: 'coder', choices: [{ index: 0, ...choice }], ...more };
  return `data: ${JSON.stringify(body)}\n\n`;
}
