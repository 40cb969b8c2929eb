import { type Browser, chromium } from 'playwright-core';
import { type Program, programPath } from './debian.ts';

const CHROMIUM: Program = {
  name: 'Chrome or Chromium',
  paths: [
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/usr/bin/google-chrome-stable',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  ],
  debianPackage: 'chromium',
  variable: 'CHROME_PATH',
};

// Chromium looks up its vendor's hosts at every start; the tests run without an internet.
const QUIET = [
  '--no-sandbox',
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
