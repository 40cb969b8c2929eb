import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { KEY } from '../gateway/serve-harness.ts';
import { docPicture } from '../host/doc-pictures.ts';
import { screenshot } from '../host/workbench.ts';
import type { Responder } from '../upstream/upstream.ts';
import { ledgerOfTeam } from './admin-ledger.ts';
import { AdminSite, type OpenOptions } from './admin-site.ts';

const NARROW = { viewport: { width: 360, height: 740 } };

const TALL = { viewport: { width: 1180, height: 1240 } };
const LOW = { viewport: { width: 1080, height: 520 } };
const REQUEST = 'ID';

/** A picture of each view as docs/admin.md shows it: the address, and how it is opened. */
const SHOTS: Readonly<Record<string, readonly [path: string, options: OpenOptions]>> = {
  login: ['/admin', { key: null, colorScheme: 'dark', ...LOW }],
  overview: ['/admin?period=7d', { colorScheme: 'dark', ...TALL }],
  'overview-light': ['/admin?period=24h', { colorScheme: 'light', ...TALL }],
  'overview-narrow': ['/admin?period=7d', { colorScheme: 'dark', ...NARROW }],
  keys: ['/admin/keys', { colorScheme: 'dark', viewport: { width: 1240, height: 520 } }],
  'keys-cards': ['/admin/keys', { colorScheme: 'light', ...LOW }],
  'keys-narrow': ['/admin/keys', { colorScheme: 'light', ...NARROW }],
  requests: ['/admin/requests?period=7d', { colorScheme: 'light' }],
  'requests-narrow': ['/admin/requests', { colorScheme: 'dark', ...NARROW }],
  request: [`/admin/requests?request=${REQUEST}`, { colorScheme: 'light', viewport: { width: 1080, height: 640 } }],
  'request-narrow': [`/admin/requests?request=${REQUEST}`, { colorScheme: 'dark', ...NARROW }],
  models: ['/admin/models', { colorScheme: 'dark', ...LOW }],
  budgets: ['/admin/budgets', { colorScheme: 'light', ...LOW }],
  replicas: ['/admin/replicas', { colorScheme: 'dark', ...LOW }],
  audit: ['/admin/audit', { colorScheme: 'light', ...LOW }],
  german: ['/admin?period=7d', { colorScheme: 'light', locale: 'de-DE', ...TALL }],
  'high-contrast': ['/admin?period=7d', { forcedColors: 'active', colorScheme: 'dark', viewport: NARROW.viewport }],
};
/** Those of the documentation. */
const IN_DOCS = ['overview', 'keys', 'request', 'budgets', 'models', 'overview-narrow', 'high-contrast'];

const TEST = 'test/webview/admin-gallery.test.ts';

/** The texts without the numbers and times of the day. */
async function labels(page: Page): Promise<string> {
  const texts = await page.locator('h1, h2, h3, nav a, button:not(tbody *), label, thead th, dt').allInnerTexts();
  const shown = texts.map((text) =>
    text
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/\d[\d.,:]*/g, '0')
      .trim(),
  );
  return shown.filter((text) => text !== '').join('\n');
}

/** Answers after a moment, with a cached prompt. The model `flaky` fails. */
const answer: Responder = async ({ body }, response) => {
  const failing = body.model === 'flaky';
  await sleep(failing ? 40 : 180);
  const usage = { prompt_tokens: 12_400, completion_tokens: 640, prompt_tokens_details: { cached_tokens: 9_000 } };
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }];
  response.writeHead(failing ? 503 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(failing ? { error: { message: 'Overloaded' } } : { id: 'c', choices, usage }));
};

describe('admin page gallery', () => {
  let site: AdminSite;
  let request = '';
  before(async () => {
    const now = Date.now();
    site = await AdminSite.start(ledgerOfTeam(now), {
      organizations: {
        acme: {
          name: 'Acme',
          policy: { allow: ['mistral/*'], deny: ['openai/gpt-large'] },
          budgets: [{ usd: 40, period: 'month' }],
        },
      },
      budgets: [{ usd: 120, period: 'month', timeZone: 'Europe/Berlin' }],
      pools: { 'team/large': { models: ['up/m', 'up/flaky'], weights: [3, 1] } },
      fallback: { 'up/flaky': ['up/m'] },
    });
    const { harness } = site;
    harness.upstream.respond(answer);
    const budgets = [{ usd: 20, period: 'month', time_zone: 'Europe/Berlin' }];
    const soon = new Date(now + 6 * 86_400_000).toISOString();
    await site.createKey({ name: 'ann-laptop', user: 'ann', organization: 'acme', budgets });
    await site.createKey({ name: 'bob-laptop', user: 'bob', rates: [{ requests: 60, parallel: 4 }], expires_at: soon });
    await site.createKey({ name: 'ci', budgets: [{ usd: 5, period: 'day', mode: 'hard', model: 'mistral/*' }] });
    await site.createKey({ name: 'ops', admin: 'read' });
    await harness.svc('keys', 'revoke', 'ci');
    for (const model of ['up/m', 'team/large', 'up/unknown', 'up/flaky']) {
      const response = await harness.send(site.url, { model }, KEY);
      await response.text();
      request = response.headers.get('x-request-id') ?? '';
      if (response.ok) await site.recorded(response);
    }
  });
  after(() => site.close());

  for (const [name, [path, options]] of Object.entries(SHOTS)) {
    it(`admin page gallery: shows ${name}`, async () => {
      const { page, close } = await site.open(path.replace(REQUEST, request), options);
      if (options.key !== null) await page.locator('main .answer[aria-busy="false"]').first().waitFor();
      await page.waitForLoadState('networkidle');
      if (IN_DOCS.includes(name)) await docPicture(page, `admin/${name}`, () => labels(page), TEST);
      else await screenshot(page, `admin-${name}`);
      await close();
    });
  }
});
