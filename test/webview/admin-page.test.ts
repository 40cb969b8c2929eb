import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { adminPage } from '../../scripts/admin-page.ts';
import type { UsageRow } from '../../src/gateway/state/ledger-columns.ts';
import { KEY } from '../gateway/serve-harness.ts';
import { inElement, inPage } from '../host/person.ts';
import { AdminSite, signIn } from './admin-site.ts';

const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu'] as const;

/** Requests around midnight of many time zones, of several models, keys and users, with fractions of cents. */
function ledger(): Partial<UsageRow>[] {
  const now = Date.now();
  return Array.from({ length: 600 }, (_, n) => ({
    at: now - ((n * 4_321_987) % (12 * 86_400_000)),
    key: n % 3 ? 'ann' : 'bob',
    user: n % 3 ? 'ann' : '',
    organization: n % 5 ? '' : 'acme',
    model: ['up/m', 'up/large', 'other/small'][n % 3] ?? 'up/m',
    provider: n % 3 === 2 ? 'other' : 'up',
    outcome: n % 11 ? 'complete' : 'failed',
    usage: { input: 1_000 + n, output: 100 + (n % 50), cacheRead: n % 2 ? 600 : 0 },
    cost: 1_234_567 + n * 1_001,
    firstByteMs: 80 + ((n * 37) % 900),
    durationMs: 1_000 + ((n * 61) % 4_000),
  }));
}

describe('admin page', () => {
  let site: AdminSite;
  before(async () => {
    site = await AdminSite.start(ledger());
  });
  after(() => site.close());

  it('admin page: is less than 120 kB compressed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-admin-page-'));
    await build(adminPage(folder, true));
    const sizes = readdirSync(folder).map((file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    rmSync(folder, { recursive: true, force: true });
    assert.ok(total > 20_000 && total < 120_000, `${total} bytes`);
  });

  it('admin page: a key opens a session, no storage of the browser has it, and signing out ends it', async () => {
    const { page, faults, close } = await site.open('/admin', { key: null });
    await page.getByLabel('Key', { exact: true }).waitFor();
    await page.keyboard.type('svc_wrong');
    await page.getByRole('button', { name: 'Sign In' }).click();
    await page.getByRole('alert').getByText('The key is not valid.').waitFor();
    await signIn(page, KEY);
    const stored = await inPage(page, 'the document is inspected', () =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML]),
    );
    assert.ok(!stored.includes(KEY));
    await page.reload();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    // Another tab has the cookie, as each port of the host has, and not the secret.
    const tab = await page.context().newPage();
    await tab.goto(`${site.url}/admin`);
    await tab.getByLabel('Key', { exact: true }).waitFor();
    const answered = await inPage(tab, 'the cookie alone is sent', async () => {
      const answers = await Promise.all(['session', 'keys', 'usage'].map((path) => fetch(`/admin/v1/${path}`)));
      return answers.map(({ status }) => status);
    });
    assert.deepEqual(answered, [401, 401, 401]);
    await tab.close();
    await page.getByRole('button', { name: 'Sign Out' }).click();
    await page.getByLabel('Key', { exact: true }).waitFor();
    await page.reload();
    await page.getByLabel('Key', { exact: true }).waitFor();
    assert.deepEqual(faults, []);
    await close();
  });

  it('admin page: its files are kept by the browser, and the document is checked each time', async () => {
    const document = await fetch(`${site.url}/admin/keys`);
    const html = await document.text();
    assert.match(document.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self';/);
    assert.equal(document.headers.get('cache-control'), 'no-cache');
    const tag = document.headers.get('etag') ?? '';
    assert.equal((await fetch(`${site.url}/admin`, { headers: { 'if-none-match': tag } })).status, 304);
    for (const [, path] of html.matchAll(/(?:src|href)="(\/admin\/files\/[\w.-]+)"/g)) {
      const file = await fetch(site.url + path);
      assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable', path);
      assert.equal(file.headers.get('content-encoding'), 'gzip');
    }
    for (const path of ['/admin/files/none.js', '/admin/files/../admin.en.html', '/admin/files/%2e%2e/x', '/v1/admin'])
      assert.equal((await fetch(site.url + path)).status, 404, path);
    const german = await fetch(`${site.url}/admin`, { headers: { 'accept-language': 'fr, de-AT;q=0.9, en;q=0.8' } });
    assert.match(await german.text(), /<html lang="de">/);
  });

  it('admin page: is off unless it is switched on', async () => {
    const off = await AdminSite.start([], { admin: false });
    const status = async (path: string) => (await fetch(off.url + path)).status;
    assert.deepEqual([await status('/admin'), await status('/admin/v1/session')], [404, 404]);
    await off.close();
  });

  for (const zone of ZONES) {
    it(`admin page: its numbers equal those of svc usage in ${zone}`, async () => {
      const today = new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(Date.now());
      const day = (add: number) => new Date(Date.parse(today) + add * 86_400_000).toISOString().slice(0, 10);
      const [first, last] = [day(-6), day(-1)];
      const { page, close } = await site.open(`/admin?period=custom&since=${first}&until=${last}&tz=${zone}&by=model`);
      const shown = await readTable(page, 'Sums of the period');
      const { stdout } = await site.harness.svc(
        ...['usage', '--by', 'model', '--json', '--tz', zone, '--since', first, '--until', today],
      );
      const report: { rows: Record<string, unknown>[]; total: Record<string, unknown> } = JSON.parse(stdout);
      const expected = [...report.rows, { ...report.total, model: 'Total' }].map((row) => [
        String(row.model),
        Number(row.requests).toLocaleString('en'),
        `$${Number(row.cost).toFixed(2)}`,
      ]);
      assert.deepEqual(
        shown.map((row) => [row[0], row[1], row.at(-1)]),
        expected,
      );
      await close();
    });
  }
});

/** The texts of a table's cells. */
async function readTable(page: Page, name: string): Promise<string[][]> {
  const table = page.getByRole('table', { name });
  await table.waitFor();
  return inElement(table, 'the document is inspected', (element) =>
    [...element.querySelectorAll('tbody tr, tfoot tr')].map((row) =>
      [...row.querySelectorAll('td')].map((cell) => cell.textContent ?? ''),
    ),
  );
}
