import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../gateway/postgres/postgres-server.ts';
import { ARTIFACTS } from '../host/workbench.ts';
import { AdminSite } from './admin-site.ts';

describe('replicas on the admin page', () => {
  let postgres: PostgresServer;
  let site: AdminSite;
  before(async () => {
    postgres = await startPostgres();
    site = await AdminSite.start([], { state: await postgres.database() });
  });
  after(async () => {
    await site?.close();
    await postgres?.close();
  });

  for (const [colorScheme, width] of [
    ['dark', 1280],
    ['light', 360],
  ] as const) {
    it(`admin page: lists two gateways on one Postgres, also one that is killed: ${colorScheme}, ${width} px`, async () => {
      const other = await site.harness.serve();
      const { page, faults, close } = await site.open('/admin/replicas', {
        colorScheme,
        viewport: { width, height: 520 },
      });
      const row = (address: string) => page.locator('tbody tr', { hasText: address });
      const refresh = page.getByRole('button', { name: 'Refresh' });
      await row(site.url).getByText('answers this page').waitFor();
      while (!(await row(other.url).getByText('Serving').isVisible())) {
        await Promise.all([page.waitForResponse(/replicas/), refresh.click()]);
      }
      assert.ok(!(await row(other.url).innerText()).includes('answers this page'));
      assert.equal(await page.locator('.notice').count(), 0);
      mkdirSync(ARTIFACTS, { recursive: true });
      await page.screenshot({ path: join(ARTIFACTS, `admin-replicas-${width}.png`) });
      other.child.kill('SIGKILL');
      await page.clock.install();
      await page.clock.fastForward(20_000);
      await Promise.all([page.waitForResponse(/replicas/), refresh.click()]);
      await row(other.url).getByText('Silent').waitFor();
      assert.deepEqual(faults, []);
      await close();
    });
  }
});
