import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { KEY } from '../gateway/serve-harness.ts';
import { until } from '../gateway/until.ts';
import { inElement, inPage, resize, typeInto } from '../host/person.ts';
import { screenshot } from '../host/workbench.ts';
import { ledgerOfTeam } from './admin-ledger.ts';
import { AdminSite } from './admin-site.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const VIEWS = ['overview', 'keys', 'requests', 'models', 'budgets', 'replicas', 'audit'] as const;
const NARROW = { width: 360, height: 740 };
const WIDE = { width: 1280, height: 900 };

interface Axe {
  run(context: Document): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

/** What axe finds. The debugger may run it although the page's policy forbids other scripts. */
async function violations(page: Page): Promise<string[]> {
  await inPage(page, 'the document is inspected', readFileSync(AXE, 'utf8'));
  return inPage(page, 'the checker runs in the page', async () => {
    const { axe } = window as unknown as { axe: Axe };
    const { violations: found } = await axe.run(document);
    return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  });
}

async function go(page: Page, view: string): Promise<void> {
  await page.locator(`.bar nav a[href^="/admin/${view}"]`).click();
  await page.locator(`.bar nav a[href^="/admin/${view}"][aria-current=page]`).waitFor();
  await settled(page);
}

/** Resolves when all answers are shown. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('main [aria-busy="true"], main .loading') === null);
}

describe('views of the admin page', () => {
  let site: AdminSite;
  before(async () => {
    site = await AdminSite.start(ledgerOfTeam(Date.now(), 400), {
      organizations: { acme: { name: 'Acme', budgets: [{ usd: 0.5, period: 'month', timeZone: 'Asia/Kolkata' }] } },
    });
    await site.createKey({ name: 'ann-laptop', user: 'ann', organization: 'acme', budgets: [{ usd: 1 }] });
  });
  after(() => site.close());

  for (const [colorScheme, viewport, locale] of [
    ['dark', WIDE, 'en-US'],
    ['light', WIDE, 'en-US'],
    ['dark', NARROW, 'en-US'],
    ['light', NARROW, 'de-DE'],
  ] as const) {
    const look = `${colorScheme}, ${viewport.width} px, ${locale}`;
    it(`admin page: axe finds nothing and no view is wider than the window: ${look}`, async () => {
      const { page, faults, close } = await site.open('/admin?period=7d', { colorScheme, viewport, locale });
      for (const view of VIEWS) {
        await go(page, view);
        assert.deepEqual(await violations(page), [], view);
        const width = await inPage(page, 'layout and style are no text', () => document.documentElement.scrollWidth);
        assert.ok(width <= viewport.width, `${view}: ${width} px`);
      }
      // Failures of scripts and whatever the Content Security Policy refused.
      assert.deepEqual(faults, []);
      await close();
    });
  }

  it('admin page: limits and buttons of a key are in sight in windows of 360 px to 1280 px', async () => {
    const { page, close } = await site.open('/admin/keys');
    await page.getByRole('button', { name: 'Change… ann-laptop' }).waitFor();
    for (const width of [360, 720, 900, 1080, 1181, 1280]) {
      await resize(page, width, 740);
      const hidden = await inElement(page.locator('.table'), 'layout and style are no text', (table) => {
        const cells = [...table.querySelectorAll('td')].filter((cell) => cell.getBoundingClientRect().width > 0);
        return cells.flatMap((cell) => {
          const { left, right, top, bottom } = cell.getBoundingClientRect();
          const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
          const inSight = right <= window.innerWidth && (cell.contains(at) || bottom > window.innerHeight);
          return inSight ? [] : [cell.textContent];
        });
      });
      assert.deepEqual(hidden, [], `${width} px`);
      assert.ok(
        await inElement(
          page.locator('.table'),
          'layout and style are no text',
          (table) => table.scrollWidth <= table.clientWidth,
        ),
        `${width} px`,
      );
    }
    await close();
  });

  it('admin page: axe finds nothing in the sign-in form and in the dialogs', async () => {
    const { page, close } = await site.open('/admin', { key: null });
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.deepEqual(await violations(page), []);
    await close();
    const keys = await site.open('/admin/keys');
    for (const name of ['Create Key…', 'Change… ann-laptop', 'Rotate… ann-laptop', 'Revoke… ann-laptop']) {
      await keys.page.getByRole('button', { name }).click();
      await keys.page.getByRole('dialog').waitFor();
      assert.deepEqual(await violations(keys.page), [], name);
      await keys.page.keyboard.press('Escape');
      await keys.page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await keys.close();
  });

  it('admin page: what a model without a price costs is unknown, not $0.00', async () => {
    const free = {
      key: 'ann',
      model: 'up/unpriced',
      provider: 'up',
      outcome: 'complete',
      usage: { input: 10, output: 5 },
    } as const;
    const other = await AdminSite.start([
      { ...free, requestId: 'a', at: Date.now() - 60_000, cost: undefined },
      { ...free, requestId: 'b', at: Date.now() - 60_000, cost: 2_000_000_000, model: 'up/m' },
      { ...free, requestId: 'c', at: Date.now() - 60_000, cost: undefined, key: 'bob' },
    ]);
    // For an admin, and for a key that sees only its own usage.
    for (const key of [KEY, await other.createKey({ name: 'ann' })]) {
      const { page, close } = await other.open('/admin', { key });
      const table = page.getByRole('table', { name: 'Sums of the period' });
      const unpriced = table.getByRole('row', { name: 'up/unpriced' });
      await unpriced.getByRole('cell', { name: 'unknown', exact: true }).waitFor();
      await table.getByRole('row', { name: 'Total' }).getByRole('cell', { name: '≥ $2.00', exact: true }).waitFor();
      await page.getByText('The cost of models without a price is not known, and not in the total.').waitFor();
      const spend = page.locator('.figure', { hasText: 'Spend' });
      await spend.getByText('$2.00', { exact: true }).waitFor();
      await spend.getByText('without models that have no price', { exact: true }).waitFor();
      await close();
    }
    const { page, close } = await other.open('/admin', { key: await other.createKey({ name: 'bob' }) });
    const unknown = page.locator('.figure', { hasText: 'Spend' }).getByText('unknown', { exact: true });
    await unknown.waitFor();
    await page.getByRole('radio', { name: 'User' }).click();
    await page.getByRole('columnheader', { name: 'User' }).waitFor();
    await unknown.waitFor();
    await close();
    const all = await other.open('/admin');
    const table = all.page.getByRole('table', { name: 'Sums of the period' });
    const spendOf = (name: string, text: string) =>
      table.getByRole('row', { name }).getByRole('cell', { name: text, exact: true }).waitFor();
    await all.page.getByRole('radio', { name: 'Key' }).click();
    await spendOf('ann', '≥ $2.00');
    await spendOf('bob', 'unknown');
    await spendOf('Total', '≥ $2.00');
    const download = all.page.waitForEvent('download');
    const sums = all.page.getByRole('region', { name: 'Sums of the period' });
    await sums.getByRole('button', { name: 'CSV' }).click();
    await screenshot(all.page, 'admin-unpriced');
    const csv = readFileSync(await (await download).path(), 'utf8');
    assert.match(csv, /,unpriced_requests\r\n/);
    await all.close();
    await other.close();
  });

  it('admin page: a sum of less than a cent is shown, and its plot has room for the labels', async () => {
    const small = await AdminSite.start([
      { key: 'ann', model: 'up/m', provider: 'up', outcome: 'complete', at: Date.now() - 60_000, cost: 3000 },
    ]);
    const { page, close } = await small.open('/admin');
    const plot = page.getByRole('region', { name: 'Spend', exact: true }).locator('.uplot');
    await plot.waitFor();
    const { axis, label } = await inElement(plot, 'a label on a canvas has no element', (element) => {
      const canvas = element.querySelector('canvas')?.getContext('2d');
      if (canvas) canvas.font = '12px system-ui, sans-serif';
      return {
        axis: element.querySelector<HTMLElement>('.u-over')?.offsetLeft ?? 0,
        label: canvas?.measureText('$0.000003').width ?? 0,
      };
    });
    await page.locator('.figure', { hasText: 'Spend' }).getByText('$0.000003', { exact: true }).waitFor();
    assert.ok(axis > label, `the axis has ${axis} px, and a label ${label} px`);
    await screenshot(page, 'admin-small-numbers');
    await close();
    await small.close();
  });

  it('admin page: a budget starts again at midnight of its own time zone', async () => {
    const { page, close } = await site.open('/admin/budgets?tz=UTC');
    const row = page.getByRole('row', { name: /organization acme/ });
    await row.getByText(/\b1 [A-Z][a-z]+ \d{4}, 00:00 \(Asia\/Kolkata\)/).waitFor();
    await close();
  });

  it('admin page: no view makes more than two calls', async () => {
    const { page, calls, close } = await site.open('/admin/audit');
    await until('the first view has asked', () => calls.some((call) => call.startsWith('/admin/v1/audit')));
    await settled(page);
    // A page in sight calls again after a minute.
    await inPage(page, 'a page in the background', () =>
      Object.defineProperty(document, 'visibilityState', { value: 'hidden' }),
    );
    for (const view of ['overview', 'keys', 'requests', 'models', 'budgets', 'replicas', 'audit']) {
      const before = calls.length;
      await go(page, view);
      const made = calls.slice(before);
      assert.ok(made.length <= 2 && made.length > 0, `${view}: ${made.join(' ')}`);
      const shown = calls.length;
      await page.getByRole('button', { name: 'Refresh' }).click();
      await until('the view is loaded again', () => calls.length >= shown + made.length);
      await settled(page);
      assert.equal(calls.length - shown, made.length, `${view}: ${calls.slice(shown).join(' ')}`);
    }
    await close();
  });

  it('admin page: period, time zone, groups and filters are in the address and survive a reload', async () => {
    const { page, close } = await site.open('/admin');
    await page.getByLabel('Period', { exact: true }).selectOption('7d');
    await page.getByLabel('Time zone', { exact: true }).selectOption('Asia/Kathmandu');
    await page.getByLabel('User', { exact: true }).check({ force: true });
    await page.waitForURL(/by=user/);
    await go(page, 'requests');
    await typeInto(page.getByLabel('Model'), 'mistral/large');
    await page.getByLabel('Outcome').selectOption('failed');
    await page.waitForURL(/model=mistral%2Flarge.*outcome=failed|outcome=failed.*model=mistral%2Flarge/);
    await page.reload();
    await page.getByRole('table', { name: 'Requests' }).waitFor();
    assert.equal(await page.getByLabel('Model').inputValue(), 'mistral/large');
    assert.equal(await page.getByLabel('Outcome').inputValue(), 'failed');
    assert.equal(await page.getByLabel('Period', { exact: true }).inputValue(), '7d');
    assert.match(await page.locator('.range').innerText(), /UTC\+05:45/);
    const models = await page.locator('tbody td:nth-child(3)').allInnerTexts();
    assert.deepEqual([...new Set(models)], ['mistral/large']);
    await page.goBack();
    await page.goBack();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await close();
  });

  it('admin page: works by keyboard, and a plot is read with the arrow keys', async () => {
    const { page, close } = await site.open('/admin?period=7d');
    const spend = page.getByRole('slider', { name: 'Spend' });
    await spend.waitFor();
    await page.locator('body').press('Tab');
    assert.equal(
      await inPage(page, 'the focus is no text', () => document.activeElement?.textContent),
      'Skip to content',
    );
    await spend.focus();
    const read = () => spend.getAttribute('aria-valuetext');
    const last = await read();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.notEqual(await read(), last);
    assert.match((await read()) ?? '', /\d{4}, 00:00: .*mistral\/large \$/);
    // The other plots show the same moment.
    const moments = await page.locator('.legend-time').allInnerTexts();
    assert.equal(new Set(moments).size, 1);
    assert.match(moments[0] ?? '', /00:00/);
    const reached = new Set<string>();
    for (let n = 0; n < 40; n += 1) {
      await page.keyboard.press('Tab');
      reached.add((await inPage(page, 'the focus is no text', () => document.activeElement?.textContent)) ?? '');
    }
    assert.ok(reached.has('Table') && reached.has('CSV'));
    await close();
  });

  it('admin page: the table and the CSV behind a plot have its numbers', async () => {
    const { page, close } = await site.open('/admin?period=7d&tz=Asia/Kathmandu');
    const plot = page.getByRole('region', { name: 'Requests and failures' });
    await plot.getByRole('button', { name: 'Table' }).click();
    const rows = await plot.locator('tbody tr').allInnerTexts();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      plot.getByRole('button', { name: 'CSV' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'requests.csv');
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    assert.equal(lines[0], 'time,Answered,Client left,Refused by the gateway,Failed at the provider');
    assert.match(lines[1] ?? '', /^\d{4}-\d\d-\d\dT00:00:00\+05:45(?:,\d+){4}$/);
    const sum = (texts: readonly string[], separator: RegExp) =>
      texts.reduce(
        (total, text) =>
          text
            .split(separator)
            .slice(1)
            .reduce((all, each) => all + Number(each), total),
        0,
      );
    assert.equal(sum(lines.slice(1), /,/), sum(rows, /\t/));
    const figure = await page.locator('.figure').nth(1).locator('.value').innerText();
    assert.equal(sum(rows, /\t/), Number(figure.replaceAll(',', '')));
    await close();
  });

  it('admin page: is German in a German browser', async () => {
    const { page, close } = await site.open('/admin', { locale: 'de-DE' });
    await page.getByRole('heading', { name: 'Übersicht' }).waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'de');
    await close();
  });
});
