import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { writeIconFont } from '../../scripts/icon-font.ts';
import { contentPolicy } from '../../src/extension/pages/content-policy.ts';
import { type PageDocument, pageDocument } from '../../src/extension/pages/page-document.ts';
import type { ToDialog } from '../../src/protocol/provider-dialog.ts';
import { closePages, sharedBrowser } from '../host/chromium.ts';
import { observePage } from '../host/failure-report.ts';
import { drawn, inPage } from '../host/person.ts';
import { WITHIN_MS } from '../host/workbench.ts';
import { THEMES, type ThemeName } from './themes.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' };

export interface DialogOptions {
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  readonly forcedColors?: boolean;
  readonly words?: PageDocument['words'];
}

export interface Dialog {
  readonly page: Page;
  /** Sends a message to the page as its host. */
  tell(...messages: readonly ToDialog[]): Promise<void>;
  /** Messages of one type that the page sent to its host. */
  sentMessages(type: string): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** The provider dialog’s page, with the policy that it has in VS Code, in a real browser. */
export async function startDialogHost() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-dialog-'));
  await build({
    entryPoints: { provider: join(ROOT, 'src/webview/provider/provider-page.tsx') },
    outdir: folder,
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'chrome128',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  });
  let words: PageDocument['words'] = {};
  writeIconFont(ROOT, folder);
  const server = serve(folder, () => words);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const browser = await sharedBrowser();
  return {
    open: (options: DialogOptions = {}) => {
      words = options.words ?? {};
      return openDialog(browser, `http://127.0.0.1:${port}`, options);
    },
    close: async () => {
      await closePages();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function serve(folder: string, words: () => PageDocument['words']) {
  const files: Readonly<Record<string, string>> = {
    '/provider.css': join(ROOT, 'src/webview/provider/provider.css'),
  };
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://dialog');
    if (pathname === '/page.html')
      return void response.setHeader('content-type', 'text/html').end(html(searchParams, words()));
    const file = files[pathname] ?? join(folder, normalize(pathname));
    if (pathname === '/' || !existsSync(file)) return void response.writeHead(404).end();
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.end(readFileSync(file));
  });
}

function html(query: URLSearchParams, words: PageDocument['words']): string {
  const nonce = 'n0nce';
  return pageDocument({
    language: 'en',
    policy: contentPolicy(nonce, "'self'"),
    nonce,
    words,
    title: 'Add Custom Provider',
    script: '/provider.js',
    styles: ['/codicon.css', '/provider.css'],
    field: undefined,
  }).replace('<body>', `<body class="${query.get('class') ?? ''}">`);
}

async function openDialog(browser: Browser, url: string, options: DialogOptions): Promise<Dialog> {
  const { theme = 'dark', width = 1200, height = 900 } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    forcedColors: options.forcedColors ? 'active' : 'none',
  });
  context.setDefaultTimeout(WITHIN_MS);
  const page = await context.newPage();
  observePage(page);
  await page.addInitScript(
    ({ variables }) => {
      const said: unknown[] = [];
      Object.assign(window, {
        said,
        acquireVsCodeApi: () => ({ postMessage: (message: unknown) => said.push(message) }),
      });
      const dress = () => {
        for (const [name, value] of Object.entries(variables)) document.documentElement.style.setProperty(name, value);
        document.documentElement.style.background = variables['--vscode-editor-background'] ?? '';
      };
      if (document.documentElement) dress();
      else document.addEventListener('readystatechange', dress, { once: true });
    },
    { variables: THEMES[theme].variables },
  );
  const query = new URLSearchParams({ class: THEMES[theme].className });
  await page.goto(`${url}/page.html?${query}`);
  const sentMessages = (type: string) =>
    inPage(
      page,
      'messages to the host are invisible',
      (wanted) =>
        (window as unknown as { said: Record<string, unknown>[] }).said.filter((each) => each.type === wanted),
      type,
    );
  await page.waitForFunction(() => 'said' in window && Array.isArray(window.said) && window.said.length > 0);
  return {
    page,
    sentMessages,
    tell: async (...messages) => {
      await inPage(
        page,
        'the host sends messages',
        (list) => {
          for (const data of list) window.dispatchEvent(new MessageEvent('message', { data, origin: window.origin }));
        },
        messages,
      );
      await drawn(page);
    },
    close: () => context.close(),
  };
}
