import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const KNOWN_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

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

function installed(): string | undefined {
  const named = process.env.CHROME_PATH;
  if (named) return named;
  return KNOWN_PATHS.find((path) => existsSync(path));
}

function installFromDebian(): void {
  const run = (args: string[]) =>
    execFileSync('apt-get', args, { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
  run(['update', '-qq']);
  run(['install', '-y', '-qq', 'chromium']);
}

/** Path of a Chrome or Chromium; installs Debian's package when root and absent. @throws with what to install. */
export function chromiumPath(): string {
  const found = installed();
  if (found) return found;
  const debian = spawnSync('apt-get', ['--version']).status === 0;
  if (debian && process.getuid?.() === 0) installFromDebian();
  const path = installed();
  if (path) return path;
  throw new Error(
    'No Chrome or Chromium found. Install one (Debian: apt-get install -y chromium) or name it in CHROME_PATH.',
  );
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), headless: true, args: QUIET });
}
