import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createAdminLink } from '../../src/extension/gateway/admin-link.ts';
import { KEY } from '../gateway/serve-harness.ts';
import { clickAndType, inPage, typeInto } from '../host/person.ts';
import { AdminSite } from './admin-site.ts';

/** Keys, live requests, sessions and a lost connection. Each test uses names of its own. */
describe('changes on the admin page', () => {
  let site: AdminSite;
  before(async () => {
    site = await AdminSite.start();
  });
  after(() => site.close());

  const ask = (key: string, model = 'up/m') => site.harness.send(site.url, { model }, key);
  const status = async (key: string) => {
    const response = await ask(key);
    await response.text();
    if (response.ok) await site.recorded(response);
    return response.status;
  };

  it('admin page: a key is created, changed, rotated and revoked, and its secret is shown once', async () => {
    const { page, faults, close } = await site.open('/admin/keys');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create Key…' }).click();
    assert.equal(
      await inPage(page, 'the focus is no text', () => document.activeElement?.previousElementSibling?.textContent),
      'Name',
    );
    await page.keyboard.type('dev');
    await typeInto(dialog.getByLabel('User (optional)'), 'dora');
    await dialog.getByRole('button', { name: 'Add Budget' }).click();
    await typeInto(dialog.getByLabel('USD'), '3');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    const secret = await dialog.locator('.secret code').innerText();
    assert.match(secret, /^svc_/);
    // Escape must not lose the only view of the secret.
    await page.keyboard.press('Escape');
    assert.ok(await dialog.isVisible());
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'dev' }).waitFor();
    assert.ok(!(await page.content()).includes(secret));
    assert.equal(await status(secret), 200);

    await page.getByRole('button', { name: 'Change… dev' }).click();
    await typeInto(dialog.getByLabel('USD'), '7');
    await dialog.getByRole('button', { name: 'Add Rate' }).click();
    await typeInto(dialog.getByLabel('Requests a minute'), '60');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/of \$7\.00 a month/).waitFor();
    await page.getByText('60 requests a minute').waitFor();

    await page.getByRole('button', { name: 'Rotate… dev' }).click();
    await dialog.getByLabel('The old secret stays valid for').selectOption('0');
    await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
    const second = await dialog.locator('.secret code').innerText();
    await dialog.getByRole('button', { name: 'Done' }).click();
    assert.deepEqual([await status(secret), await status(second)], [401, 200]);

    await page.getByRole('button', { name: 'Revoke… dev' }).click();
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('Revoked', { exact: true }).last().waitFor();
    assert.equal(await status(second), 401);
    assert.deepEqual(faults, []);

    await page.getByRole('link', { name: 'Audit' }).click();
    const actions = page.locator('tbody tr:has-text("dev") code');
    await actions.first().waitFor();
    assert.deepEqual(await actions.allInnerTexts(), ['key.revoke', 'key.rotate', 'key.change', 'key.create']);
    await close();
  });

  it('admin page: an admin key is created and rotated only with the own key', async () => {
    const { page, close } = await site.open('/admin/keys');
    const dialog = page.getByRole('dialog');
    await clickAndType(page, page.getByRole('button', { name: 'Create Key…' }), 'deputy');
    assert.equal(await dialog.getByLabel(/^Your key/).count(), 0);
    await dialog.getByLabel('Access to this page').selectOption('keys');
    await typeInto(dialog.getByLabel(/^Your key/), 'svc_wrong');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.getByRole('alert').getByText('This is not the key of the session.').waitFor();
    await typeInto(dialog.getByLabel(/^Your key/), KEY);
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.locator('.secret code').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Rotate… deputy' }).click();
    await typeInto(dialog.getByLabel(/^Your key/), KEY);
    await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
    await dialog.locator('.secret code').waitFor();
    await close();
  });

  it('admin page: the CSV of the sums is saved with the session', async () => {
    const { page, close } = await site.open('/admin');
    const table = page.locator('section', { has: page.getByRole('heading', { name: 'Sums of the period' }) });
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      table.getByRole('button', { name: 'CSV' }).click(),
    ]);
    assert.match(file.suggestedFilename(), /^usage-\d{4}-\d\d-\d\d\.csv$/);
    assert.match(readFileSync(await file.path(), 'utf8'), /^\S*model,requests,/);
    await close();
  });

  it('admin page: a name that is taken is refused, and the form stays', async () => {
    await site.createKey({ name: 'taken' });
    const { page, close } = await site.open('/admin/keys');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Create Key…' }).click();
    await typeInto(dialog.getByLabel('Name'), 'taken');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog
      .getByRole('alert')
      .getByText(/already exists/)
      .waitFor();
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'taken');
    await close();
  });

  it('admin page: requests appear live, wait while it is paused, and open to the sum of their price', async () => {
    const secret = await site.createKey({ name: 'live' });
    const { page, close } = await site.open('/admin/requests?show=live&key=live');
    await page.getByText('New requests appear here when they end.').waitFor();
    await status(secret);
    await page.getByRole('cell', { name: 'up/m' }).first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await status(secret);
    await page.getByText('Paused: 1 new').waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('tbody tr').nth(1).waitFor();

    await page.locator('tbody tr').first().getByRole('button').click();
    const dialog = page.getByRole('dialog', { name: 'Request' });
    const price = dialog.getByRole('table', { name: 'Price' });
    await price.waitFor();
    const costs = await price.locator('tbody td:last-child').allInnerTexts();
    const dollars = (text: string) => Number(text.replace('$', ''));
    const sum = costs.reduce((total, text) => total + dollars(text), 0);
    const total = dollars(await dialog.locator('.sum strong').innerText());
    assert.ok(total > 0 && Math.abs(sum - total) < 1e-9, `${costs} = ${total}`);
    assert.equal(await dialog.getByRole('table', { name: 'Attempts' }).locator('tbody tr').count(), 1);
    await page.reload();
    await dialog.getByRole('table', { name: 'Price' }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await close();
  });

  it('admin page: a key that is not an admin’s sees its own usage only', async () => {
    const [own, other] = [await site.createKey({ name: 'own' }), await site.createKey({ name: 'other' })];
    await status(own);
    await status(other);
    const { page, faults, close } = await site.open('/admin?period=1h', { key: own });
    assert.deepEqual(await page.locator('.bar nav a').allInnerTexts(), [
      'Overview',
      'Requests',
      'Budgets and organizations',
    ]);
    await page.getByRole('table', { name: 'Sums of the period' }).waitFor();
    assert.equal(await page.locator('.figure').nth(1).locator('.value').innerText(), '1');
    await page.getByRole('link', { name: 'Requests' }).click();
    await page.getByRole('table', { name: 'Requests' }).waitFor();
    assert.deepEqual(await page.locator('tbody td:nth-child(4)').allInnerTexts(), ['own']);
    await page.goto(`${site.url}/admin/keys`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.deepEqual(faults, []);
    await close();
  });

  it('admin page: a read-only admin sees no buttons that change keys', async () => {
    const reader = await site.createKey({ name: 'reader', admin: 'read' });
    const { page, close } = await site.open('/admin/keys', { key: reader });
    await page.getByRole('table', { name: 'Keys' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Create|Change|Rotate|Revoke/ }).count(), 0);
    await close();
  });

  it('admin page: the session of a revoked key ends, and the address stays', async () => {
    const secret = await site.createKey({ name: 'leaving', admin: 'read' });
    const { page, close } = await site.open('/admin/replicas', { key: secret });
    await site.harness.svc('keys', 'revoke', 'leaving');
    // The gateway sees the change of another process within a second.
    await page.waitForFunction(
      () => {
        document.querySelector<HTMLButtonElement>('.refresh')?.click();
        return document.querySelector('#key') !== null;
      },
      undefined,
      { polling: 200 },
    );
    await page.getByText('Your session has ended. Sign in again.').waitFor();
    assert.match(page.url(), /\/admin\/replicas$/);
    await close();
  });

  it('admin page: the one-time link of VS Code signs in once, and leaves no token in the address', async () => {
    const link = await createAdminLink(site.url, KEY);
    const path = link.kind === 'link' ? link.path : assert.fail(link.kind);
    const first = await site.open(path, { key: null });
    await first.page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(first.page.url(), `${site.url}/admin`);
    await first.close();
    const second = await site.open(path, { key: null });
    await second.page.getByText('This link is no longer valid.').waitFor();
    await second.close();
    assert.equal((await createAdminLink(site.url, 'svc_wrong')).kind, 'failed');
  });

  it('admin page: a lost connection is shown, and mended without a reload', async () => {
    const { page, close } = await site.open('/admin/replicas');
    const before = await page.locator('tbody td').first().innerText();
    await site.stop();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('The gateway does not answer.').waitFor();
    assert.equal(await page.locator('tbody td').first().innerText(), before);
    await site.restart();
    await page.getByText('The gateway does not answer.').waitFor({ state: 'detached' });
    await page.waitForFunction((text) => document.querySelector('tbody td')?.textContent !== text, before);
    await close();
  });
});
