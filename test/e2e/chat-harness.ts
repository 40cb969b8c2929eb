import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { sharedBrowser } from '../host/chromium.ts';
import { addEvidence, describeRequests } from '../host/evidence.ts';
import { focusedElements } from '../host/failure-report.ts';
import { waitUntil } from '../host/wait-until.ts';
import { actUntil, openWorkbench, runCommand, webviewFrame, workbenchReady } from '../host/workbench.ts';
import { type Script, streamFrames } from '../upstream/answers.ts';
import { type ReceivedRequest, startUpstream } from '../upstream/upstream.ts';
import { sharedServer, startServer } from './editor.ts';
import { createProfile } from './profile.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export type Answer = (request: ReceivedRequest, response: ServerResponse) => void;

export interface ChatHarnessOptions {
  /** Models by their key; absent: one that takes everything. */
  readonly models?: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The content of `svc.jsonc` instead of the default provider. */
  readonly config?: unknown;
  /** A server for this file alone, which a test may end. */
  readonly ownServer?: boolean;
}

const LARGE = {
  name: 'Large',
  tool_call: true,
  reasoning: true,
  attachment: true,
  modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
  limit: { context: 50_000, output: 4000 },
  cost: { input: 3, output: 15 },
};

const SMALL = { name: 'Small', limit: { context: 8000, output: 1000 }, cost: { input: 0, output: 0 } };

export type ChatHarness = Awaited<ReturnType<typeof startChatHarness>>;

/** A scripted provider, VS Code with the chat, a folder and a page. */
export async function startChatHarness(options: ChatHarnessOptions = {}) {
  const root = mkdtempSync(join(tmpdir(), 'svc-chat-'));
  const workspace = join(root, 'workspace');
  cpSync(join(ROOT, 'scripts', 'sample-workspace'), workspace, { recursive: true });
  let answer: Answer = answerWith({ text: ['Hello', ' there.'] });
  const upstream = await startUpstream((request, response) => answer(request, response));
  const provider = {
    up: {
      name: 'Up',
      options: { baseURL: `${upstream.url}/v1` },
      models: options.models ?? { large: LARGE, small: SMALL },
    },
  };
  const config = join(root, 'svc.jsonc');
  writeFileSync(config, JSON.stringify(options.config ?? { model: 'up/large', provider }), { mode: 0o600 });
  const environment = {
    HOME: root,
    XDG_CONFIG_HOME: join(root, 'config'),
    SVC_DISABLE_CATALOG_REFRESH: '1',
    SVC_CONFIG: config,
  };
  const userDataDir = join(root, 'user');
  let server = await (options.ownServer ? startServer({ userDataDir }) : sharedServer());
  const profile = createProfile(server, root, options.settings ? { settings: options.settings } : {});
  const browser = await sharedBrowser();
  const pages = new Set<Page>();
  const open = async () => {
    const opened = await openWorkbench(browser, server, { folder: workspace, extension: ROOT, profile, environment });
    pages.add(opened);
    await workbenchReady(opened);
    await extensionReady(opened);
    return opened;
  };
  const page = await open();
  const removeEvidence = addEvidence(() => ({
    'requests.txt': describeRequests(upstream.requests),
    ...server.extensionLogs(),
  }));
  const panel = () => webviewFrame(page, '.composer textarea');
  const reload = async () => {
    await page.reload();
    await workbenchReady(page);
    await extensionReady(page);
  };

  return {
    page,
    upstream,
    workspace,
    open,
    panel,
    /** Kills the extension host of the window, and loads the page again. */
    killExtensionHost: async () => {
      assert.notEqual(await server.endExtensionHosts(), 0, 'no extension host was found');
      await reload();
    },
    /** Ends VS Code with all its processes, as a crash would, and starts it again at the same address. */
    crash: async () => {
      assert.ok(options.ownServer, 'other files need the shared server');
      const { port } = server;
      await server.close();
      server = await startServer({ userDataDir, port });
      await reload();
    },
    /** Resolves when each of the texts is on disk with the conversations. */
    waitForSaved: (...texts: readonly string[]) =>
      waitUntil(
        `the saved conversations to contain ${texts.join(' and ')}`,
        () => readStored(profile.globalStorage),
        (stored) => texts.every((text) => stored.includes(text)),
      ),
    answer: (next: Answer) => {
      answer = next;
    },
    requests: () => upstream.requests.filter(({ method }) => method === 'POST'),
    lastBody: () => JSON.stringify(upstream.requests.findLast(({ method }) => method === 'POST')?.body),
    newConversation: async () => {
      await waitForAllAnswers(page);
      return newConversation(page);
    },
    /**
     * Clicks into the input of the open chat. “New Conversation” may focus it once more after the caret is there, which
     * closes a list that was opened meanwhile.
     */
    enter: async () => {
      const frame = await panel();
      await frame.locator('.composer textarea').click();
      await waitForCaret(page, frame);
      return frame;
    },
    /** Types a message, which needs the caret in the input, and presses Enter. */
    send: async (text: string) => sendMessage(page, await panel(), text),
    close: async () => {
      removeEvidence();
      for (const each of pages) await each.context().close();
      await (options.ownServer ? server.close() : server.endExtensionHosts());
      await upstream.close();
      profile.remove();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
    /** Writes a file into the folder and returns its absolute path. */
    write: (name: string, content: string | Buffer): string => {
      const file = join(workspace, name);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
  };
}

/** The content of all files of conversations. */
function readStored(storage: string): string {
  const files = readdirSync(storage, { recursive: true, encoding: 'utf8' }).filter((name) => /\.jsonl?$/.test(name));
  return files.map((name) => readFileSync(join(storage, name), 'utf8')).join('\n');
}

/** Resolves when the commands of the extension are in the palette. */
export async function extensionReady(page: Page): Promise<void> {
  await page.locator('.statusbar-item', { hasText: 'Svc' }).first().waitFor();
}

/** Answers with scripts, one a request, the last from then on. */
export function answerWith(...scripts: readonly Script[]): Answer {
  let at = 0;
  return (_request, response) => {
    const script = scripts[Math.min(at, scripts.length - 1)] ?? {};
    at += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      streamFrames('chat', script)
        .map((frame) => `${frame}\n\n`)
        .join(''),
    );
  };
}

/** Sends the first frames immediately and the rest after `resume`. */
export function pausedAnswer(script: Script, frames = 2): { readonly answer: Answer; readonly resume: () => void } {
  const gate = Promise.withResolvers<void>();
  const all = streamFrames('chat', script);
  return {
    answer: async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${all.slice(0, frames).join('\n\n')}\n\n`);
      await gate.promise;
      response.end(`${all.slice(frames).join('\n\n')}\n\n`);
    },
    resume: () => gate.resolve(),
  };
}

/** Fails as a provider does. */
export function failWith(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Types with the keyboard alone: a command must have moved the caret into the input. */
export async function sendMessage(page: Page, frame: Frame, text: string): Promise<Frame> {
  await waitForCaret(page, frame);
  await typeMessage(page, frame, text);
  await page.keyboard.press('Enter');
  return frame;
}

export async function typeMessage(page: Page, frame: Frame, text: string): Promise<void> {
  const input = frame.locator('.composer textarea');
  const before = await input.inputValue();
  await page.keyboard.type(text);
  await waitUntil(
    `the input of the chat to contain ${JSON.stringify(before + text)}`,
    async () => ({ input: await input.inputValue(), focus: await focusedElements(page) }),
    (seen) => seen.input === before + text,
  );
}

/** The last answer is whole, or has failed. */
export const waitForAnswerEnd = (frame: Frame) =>
  frame.locator('.message.assistant[aria-busy="false"]').last().waitFor();

/** Waits until no answer is under way: a request that is late would get the answer that the next test sets. */
async function waitForAllAnswers(page: Page): Promise<void> {
  for (const frame of page.frames()) {
    const busy = frame.locator('.message.assistant[aria-busy="true"]').first();
    await busy.waitFor({ state: 'detached' }).catch((error) => {
      if (!frame.isDetached()) throw error;
    });
  }
}

/** Opens a new conversation and waits until the caret is in its input. */
export async function newConversation(page: Page): Promise<Frame> {
  await runCommand(page, 'Svc: New Conversation');
  const frame = await webviewFrame(page, '.transcript .empty');
  await waitForCaret(page, frame);
  return frame;
}

/** Waits until the input of messages has exactly this text. */
export async function waitForDraft(frame: Frame, text: string): Promise<void> {
  const draft = () => frame.locator('.composer textarea').inputValue();
  await waitUntil('the draft in the input', draft, (value) => value === text);
}

/** Opens a list of the extension. */
export async function openList(page: Page, command: string, title: string): Promise<void> {
  await focusEditors(page);
  await runCommand(page, command);
  await page.locator('.quick-input-title', { hasText: title }).waitFor();
}

/**
 * Moves the focus from a webview to the editors. VS Code returns the focus to a webview some time after the palette is
 * closed, which closes a list that a command has opened (https://github.com/microsoft/vscode/issues/75209).
 */
export async function focusEditors(page: Page): Promise<void> {
  await page.keyboard.press('ControlOrMeta+1');
}

/** Shows the Explorer instead of the chat. */
export async function showExplorer(page: Page): Promise<void> {
  const explorer = page.locator('.explorer-folders-view');
  await actUntil(page, () => page.keyboard.press('ControlOrMeta+Shift+E'), explorer);
}

/** Waits until keys reach the input of the chat: in the page, and in the window. */
export async function waitForCaret(page: Page, frame: Frame): Promise<void> {
  await waitUntil(
    'the caret to be in the input of the chat',
    async () => ({
      caret: await frame.locator('.composer textarea:focus').count(),
      focus: await focusedElements(page),
    }),
    ({ caret, focus }) => caret === 1 && focus.at(-1)?.startsWith('<textarea') === true,
  );
}
