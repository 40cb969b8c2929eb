import { closeSharedBrowser } from '../host/chromium.ts';
import { type CodeServer, type CodeServerOptions, startCodeServer } from '../host/code-server.ts';

/** Seconds that VS Code keeps the terminals of a window that was closed without a notice. */
const GRACE_SECONDS = 5;

let shared: Promise<CodeServer> | undefined;

/**
 * The editor server of all spec files, started on first use: mocha runs the files in one process. A file has its own
 * window, profile, home folder and browser context. `closeEditor` ends the server and the browser after the last file.
 */
export function sharedServer(): Promise<CodeServer> {
  shared ??= startServer();
  return shared;
}

/** A separate server, for tests that end it. */
export function startServer(options: Pick<CodeServerOptions, 'port' | 'userDataDir'> = {}): Promise<CodeServer> {
  return startCodeServer({ reconnectionGraceSeconds: GRACE_SECONDS, ...options });
}

export async function closeEditor(): Promise<void> {
  const server = await shared;
  shared = undefined;
  await closeSharedBrowser();
  await server?.close();
}
