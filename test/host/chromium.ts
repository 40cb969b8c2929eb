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
