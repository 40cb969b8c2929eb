import { type Browser, chromium } from 'playwright-core';
import { CHROMIUM, programPath } from './programs.ts';

// Chromium looks up its vendor's hosts at every start; the tests run without an internet.
const QUIET = [
  '--no-sandbox',
  // As a desktop Chrome does: a frame without an origin has a process of its own.
  '--site-per-process',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Path of a Chrome or Chromium; installs Debian's package when root and absent. @throws with what to install. */
export function chromiumPath(): string {
  return programPath(CHROMIUM);
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), headless: true, args: QUIET });
}

let shared: Promise<Browser> | undefined;

/** The browser of all test files of this process, started on first use. A file has its own contexts, and closes them. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchChromium();
  return shared;
}

/** Closes what a test file has open in the shared browser: files run one after the other. */
export async function closePages(): Promise<void> {
  const contexts = (await shared)?.contexts() ?? [];
  await Promise.all(contexts.map((context) => context.close()));
}

/** Called after the last file. */
export async function closeSharedBrowser(): Promise<void> {
  const browser = await shared;
  shared = undefined;
  await browser?.close();
}
