import type { Browser } from 'playwright-core';
import { launchChromium } from '../host/chromium.ts';
import { type CodeServer, type CodeServerOptions, startCodeServer } from '../host/code-server.ts';

/** Seconds that VS Code keeps the terminals of a window that was closed without a notice. */
const GRACE_SECONDS = 5;

/**
 * The editor server and the browser of all spec files, started on first use: mocha runs the files in one process.
 * A file has its own window, profile, home folder and browser context. `closeEditor` ends both after the last file.
 */
const shared: { browser?: Promise<Browser>; server?: Promise<CodeServer> } = {};

export function sharedBrowser(): Promise<Browser> {
  shared.browser ??= launchChromium();
  return shared.browser;
}

export function sharedServer(): Promise<CodeServer> {
  shared.server ??= startServer();
  return shared.server;
}

/** A separate server, for tests that end it. */
export function startServer(options: Pick<CodeServerOptions, 'port' | 'userDataDir'> = {}): Promise<CodeServer> {
  return startCodeServer({ reconnectionGraceSeconds: GRACE_SECONDS, ...options });
}

export async function closeEditor(): Promise<void> {
  const { browser, server } = shared;
  delete shared.browser;
  delete shared.server;
  await (await browser)?.close();
  await (await server)?.close();
}
