import { once } from 'node:events';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { objectOrEmpty } from '../../src/base/json.ts';
import { createAdminLink } from '../../src/extension/gateway/admin-link.ts';
import type { UsageRow } from '../../src/gateway/state/ledger-columns.ts';
import { openState } from '../../src/gateway/state/state-database.ts';
import { transaction } from '../../src/gateway/state/transaction.ts';
import { UsageTables } from '../../src/gateway/state/usage-tables.ts';
import { ledgerRow } from '../gateway/ledger-row.ts';
import { KEY, ServeHarness, type ServeProcess } from '../gateway/serve-harness.ts';
import { untilEqual } from '../gateway/until.ts';
import { sharedBrowser } from '../host/chromium.ts';
import { observePage } from '../host/failure-report.ts';
import { typeInto } from '../host/person.ts';
import { WITHIN_MS } from '../host/workbench.ts';

export interface OpenOptions extends BrowserContextOptions {
  /** Absent: that of the process that starts the gateway, with the scope `all`. `null`: nobody signs in. */
  readonly key?: string | null;
}

export interface AdminTab {
  readonly page: Page;
  /** What the browser reported: failures of scripts and refused loads. */
  readonly faults: readonly string[];
  /** Addresses of the API calls so far. */
  readonly calls: readonly string[];
  close(): Promise<void>;
}

/** A real gateway (`svc serve`) over a simulated provider, and its admin page in a real browser. */
export class AdminSite {
  readonly harness: ServeHarness;
  readonly browser: Browser;
  server: ServeProcess;
  /** A file may have two sites. */
  readonly #contexts: BrowserContext[] = [];

  private constructor(harness: ServeHarness, browser: Browser, server: ServeProcess) {
    this.harness = harness;
    this.browser = browser;
    this.server = server;
  }

  /** @param rows the ledger at the start. @param gateway more of the configuration. */
  static async start(rows: readonly Partial<UsageRow>[] = [], gateway: object = {}): Promise<AdminSite> {
    const harness = await ServeHarness.start();
    const cost = { input: 1, output: 2, cache_read: 0.1 };
    await harness.configure({ m: { cost }, flaky: { cost }, unpriced: {} }, { admin: true, ...gateway });
    await record(harness.database, rows);
    return new AdminSite(harness, await sharedBrowser(), await harness.serve());
  }

  get url(): string {
    return this.server.url;
  }

  async open(path: string, { key = KEY, ...options }: OpenOptions = {}): Promise<AdminTab> {
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 900 },
      timezoneId: 'UTC',
      locale: 'en-US',
      ...options,
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(WITHIN_MS);
    const page = await context.newPage();
    observePage(page);
    const faults: string[] = [];
    const calls: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of (?:401|404)/.test(message.text())) faults.push(message.text());
    });
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith('/admin/v1/')) calls.push(pathname + search);
    });
    // Sign-ins with a key are limited, and one gateway has many tests.
    const link = key === KEY ? await createAdminLink(this.url, KEY) : undefined;
    await page.goto(this.url + path + (link?.kind === 'link' ? new URL(link.path, this.url).hash : ''));
    if (link?.kind === 'link') await page.locator('nav').first().waitFor();
    else if (key !== null) await signIn(page, key);
    return { page, faults, calls, close: () => context.close() };
  }

  /** Creates a key through the API, and returns its secret. */
  async createKey(key: Readonly<Record<string, unknown>>): Promise<string> {
    const response = await fetch(`${this.url}/admin/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(key),
    });
    const { secret, message } = objectOrEmpty(await response.json());
    if (typeof secret !== 'string') throw new Error(String(message));
    return secret;
  }

  /** Resolves when the ledger has the request of an answer: it is written some time later. */
  async recorded({ headers }: Response): Promise<void> {
    const url = `${this.url}/admin/v1/requests/${headers.get('x-request-id')}`;
    const read = async () => {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${KEY}` } });
      await answer.arrayBuffer();
      return answer.status;
    };
    await untilEqual('the request is in the ledger', read, 200);
  }

  async stop(): Promise<void> {
    const ended = once(this.server.child, 'exit');
    this.server.child.kill('SIGKILL');
    await ended;
  }

  /** Starts the gateway again at the same port. */
  async restart(): Promise<void> {
    this.server = await this.harness.serve(['--port', new URL(this.url).port]);
  }

  async close(): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()));
    await this.harness.close();
  }
}

export async function signIn(page: Page, key: string): Promise<void> {
  await typeInto(page.locator('#key'), key);
  await page.keyboard.press('Enter');
  await page.locator('nav').first().waitFor();
}

async function record(file: string, rows: readonly Partial<UsageRow>[]): Promise<void> {
  const database = await openState(file);
  const tables = new UsageTables(database);
  const failed = (error: Error) => {
    throw error;
  };
  transaction(database, () => tables.write(rows.map(ledgerRow), failed));
  database.close();
}
