import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { diagramScript } from '../../scripts/diagram-script.ts';
import { writeIconFont } from '../../scripts/icon-font.ts';
import type { Message, Transcript } from '../../src/chat/transcript.ts';
import { contentPolicy } from '../../src/extension/pages/content-policy.ts';
import { type PageDocument, pageDocument } from '../../src/extension/pages/page-document.ts';
import type { ToPage } from '../../src/protocol/chat/page-messages.ts';
import { closePages, sharedBrowser } from '../host/chromium.ts';
import { observePage } from '../host/failure-report.ts';
import { drawn, inPage } from '../host/person.ts';
import { WITHIN_MS } from '../host/workbench.ts';
import { THEMES, type ThemeName } from './themes.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.ttf': 'font/ttf',
  '.html': 'text/html',
};

/** The built page, served with the policy that it has in VS Code, in a real browser. */
export interface PanelHost {
  readonly browser: Browser;
  readonly url: string;
  /** Requests for other files than the page's own: loads that the text of a model caused. */
  readonly strangers: string[];
  open(options?: OpenOptions): Promise<Panel>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  readonly policy?: boolean;
  readonly forcedColors?: boolean;
  readonly reducedMotion?: boolean;
  /** One of those in l10n/; absent: English. */
  readonly language?: 'de';
  /** What the user does before the style sheets and the script of the page are loaded. */
  readonly early?: (page: Page) => Promise<unknown>;
}

export interface Panel {
  readonly page: Page;
  /** Sends a message to the page as its host. */
  tell(...messages: readonly ToPage[]): Promise<void>;
  /** Messages of one type that the page sent to its host. */
  sentMessages(type: string): Promise<readonly Record<string, unknown>[]>;
  /** As VS Code does with a page that it has discarded. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

let built: Promise<string> | undefined;

/** Builds the page once for all test files. Returns the folder, which the end of the process removes. */
function builtPage(): Promise<string> {
  built ??= buildPage();
  return built;
}

async function buildPage(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-panel-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await build({
    entryPoints: [
      { in: join(ROOT, 'src/webview/chat/chat-page.tsx'), out: 'chat' },
      { in: join(ROOT, 'src/webview/chat/chat.css'), out: 'chat' },
      { in: join(import.meta.dirname, 'writer-entry.ts'), out: 'writer' },
      { in: join(ROOT, 'src/webview/chat/markdown/diagram-frame.ts'), out: 'diagram' },
    ],
    outdir: folder,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    splitting: true,
    target: 'chrome128',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  });
  await build(diagramScript(ROOT, folder, false));
  writeIconFont(ROOT, folder);
  return folder;
}

export async function startPanelHost(): Promise<PanelHost> {
  const folder = await builtPage();
  const strangers: string[] = [];
  const server = serve(folder, strangers);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const script = brotliDecompressSync(readFileSync(join(folder, 'diagram-script.js.br'))).toString();
  const url = `http://127.0.0.1:${port}`;
  const browser = await sharedBrowser();
  return {
    browser,
    url,
    strangers,
    open: (options = {}) => openPanel({ browser, url, script }, options),
    close: async () => {
      await closePages();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serve(folder: string, strangers: string[]): Server {
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://panel');
    if (pathname === '/panel.html') return void response.setHeader('content-type', 'text/html').end(html(searchParams));
    const file = join(folder, normalize(pathname));
    if (pathname === '/favicon.ico') return void response.writeHead(204).end();
    if (request.method !== 'GET' || !existsSync(file) || pathname === '/') {
      strangers.push(`${request.method} ${request.url}`);
      return void response.writeHead(404).end();
    }
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.end(readFileSync(file));
  });
}

function html(query: URLSearchParams): string {
  const nonce = 'n0nce';
  const language = query.get('language') ?? 'en';
  const document = pageDocument({
    language,
    policy: contentPolicy(nonce, "'self'"),
    nonce,
    words: wordsOf(language),
    title: 'Svc Chat',
    script: '/chat.js',
    styles: ['/codicon.css', '/chat.css'],
    field: 'Message',
  }).replace('<body>', `<body class="${query.get('class') ?? ''}">`);
  return query.has('open') ? document.replace(/<meta http-equiv[^>]*>/, '') : document;
}

/** As the host puts them into the page. */
function wordsOf(language: string): PageDocument['words'] {
  return language === 'en' ? {} : JSON.parse(readFileSync(join(ROOT, 'l10n', `bundle.l10n.${language}.json`), 'utf8'));
}

interface Served {
  readonly browser: Browser;
  readonly url: string;
  /** Runs in the frame of diagrams. */
  readonly script: string;
}

async function openPanel({ browser, url, script }: Served, options: OpenOptions): Promise<Panel> {
  const { theme = 'dark', width = 420, height = 720 } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    forcedColors: options.forcedColors ? 'active' : 'none',
    reducedMotion: options.reducedMotion ? 'reduce' : 'no-preference',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(WITHIN_MS);
  const page = await context.newPage();
  observePage(page);
  await page.exposeFunction('loadDiagramScript', () => tell(page, { type: 'diagram-script', text: script }));
  await page.addInitScript(
    ({ variables }) => {
      // VS Code puts the theme on the root element and gives the page this one function.
      const said: unknown[] = [];
      Object.assign(window, {
        said,
        acquireVsCodeApi: () => ({
          postMessage: (message: { readonly type?: string }) => {
            said.push(message);
            if (message.type === 'load-diagram-script') void loadDiagramScript();
          },
          // VS Code keeps it for a page that is hidden and loaded again.
          getState: () => JSON.parse(sessionStorage.getItem('state') ?? 'null') ?? undefined,
          setState: (next: unknown) => sessionStorage.setItem('state', JSON.stringify(next)),
        }),
      });
      const dress = () => {
        for (const [name, value] of Object.entries(variables)) document.documentElement.style.setProperty(name, value);
        document.documentElement.style.background = variables['--vscode-sideBar-background'] ?? '';
      };
      if (document.documentElement) dress();
      else document.addEventListener('readystatechange', dress, { once: true });
    },
    { variables: THEMES[theme].variables },
  );
  const query = new URLSearchParams({ class: THEMES[theme].className, language: options.language ?? 'en' });
  if (options.policy === false) query.set('open', '');
  const files = options.early && (await holdFiles(page));
  await page.goto(`${url}/panel.html?${query}`);
  await options.early?.(page);
  files?.release();
  const started = () =>
    page.waitForFunction(() => 'said' in window && Array.isArray(window.said) && window.said.length > 0);
  await started();
  return {
    page,
    reload: async () => {
      await page.reload();
      await started();
    },
    tell: (...messages) => tell(page, ...messages),
    sentMessages: (type) =>
      inPage(
        page,
        'messages to the host are invisible',
        (wanted) =>
          (window as unknown as { said: Record<string, unknown>[] }).said.filter((each) => each.type === wanted),
        type,
      ),
    close: () => context.close(),
  };
}

/** Holds back what the page loads after itself. */
async function holdFiles(page: Page): Promise<{ release(): void }> {
  const released = Promise.withResolvers<void>();
  await page.route(/\.(?:css|js)$/, async (route) => {
    await released.promise;
    await route.continue();
  });
  return { release: () => released.resolve() };
}

declare function loadDiagramScript(): Promise<void>;

async function tell(page: Page, ...messages: readonly ToPage[]): Promise<void> {
  await inPage(
    page,
    'the host sends messages',
    (list) => {
      for (const data of list) window.dispatchEvent(new MessageEvent('message', { data, origin: window.origin }));
    },
    messages,
  );
  await drawn(page);
}

/** A conversation of messages that follow one another. */
export function transcriptOf(...messages: readonly Partial<Message>[]): Transcript {
  const whole = messages.map((message, index): Message => {
    const defaults: Message = { id: `m${index}`, role: index % 2 ? 'assistant' : 'user', parts: [], createdAt: index };
    const parent = index === 0 ? {} : { parent: messages[index - 1]?.id ?? `m${index - 1}` };
    return { ...defaults, ...parent, ...message };
  });
  const leaf = whole.at(-1)?.id;
  return { messages: whole, title: 'Test', pinned: false, ...(leaf === undefined ? {} : { leaf }) };
}

export const COMPLETE = { type: 'finished', reason: 'stop', outcome: 'complete' } as const;
export const MODEL = { ref: 'up/large', name: 'Up Large', provider: 'up', simulated: false } as const;
export const VIEW = { ...MODEL, usable: 100_000, images: true, pdf: true, tools: true, reasoning: true } as const;

export function snapshot(transcript: Transcript, seq = 0): ToPage {
  return { type: 'snapshot', session: 's', seq, transcript };
}
