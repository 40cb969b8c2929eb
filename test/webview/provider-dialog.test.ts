import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bundle } from '../../scripts/localization.ts';
import { EMPTY_FORM, type ProviderForm } from '../../src/config/provider-form/provider-form.ts';
import type { ToDialog } from '../../src/protocol/provider-dialog.ts';
import { clickAndType, inElement, inPage, tabInto, tabTo, typeInto } from '../host/person.ts';
import { ARTIFACTS } from '../host/workbench.ts';
import { type Dialog, startDialogHost } from './provider-page.ts';
import type { ThemeName } from './themes.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const TARGET = { path: '/home/p/.config/svc/svc.jsonc', label: 'All projects (your own svc.jsonc)', project: false };
const FILLED: ProviderForm = {
  ...EMPTY_FORM,
  id: 'acme',
  name: 'Acme Models',
  baseURL: 'https://api.acme.example/v1',
  key: { kind: 'kept' },
  models: [
    { id: 'acme-large-2026-01', name: 'Acme Large' },
    { id: 'acme-small', name: '' },
  ],
  headers: [
    { name: 'X-Team', value: 'compilers' },
    { name: 'X-Api-Token', value: '', kept: true },
  ],
  target: TARGET.path,
};

function opened(form: Partial<ProviderForm> = {}, mode: 'add' | 'edit' = 'add'): ToDialog {
  const preset = { api: 'chat-completions', fimURL: '', fim: '' } as const;
  return {
    type: 'open',
    mode,
    form: { ...EMPTY_FORM, target: TARGET.path, ...form },
    taken: ['mistral'],
    targets: [TARGET, { path: '/work/svc.jsonc', label: 'Only work (svc.jsonc in the folder)', project: true }],
    presets: [
      {
        ...preset,
        id: 'mistral',
        name: 'Mistral',
        baseURL: 'https://api.mistral.ai/v1',
        local: false,
        keysURL: 'https://keys.example',
      },
      { ...preset, id: 'ollama', name: 'Ollama', baseURL: 'http://127.0.0.1:11434/v1', local: true },
    ],
  };
}

const models = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: `acme-model-${n}`,
    name: n % 3 ? '' : `Model ${n}`,
    contextLength: 128_000,
  }));

describe('provider page', () => {
  let host: Awaited<ReturnType<typeof startDialogHost>>;
  before(async () => {
    host = await startDialogHost();
  });
  after(() => host.close());

  /**
   * The number of the last request of a type. @param part of the form that it has: while a slow machine types, the list
   * is requested for the beginning of an address or a key.
   */
  async function lastRequest(dialog: Dialog, type: 'list' | 'test', part = ''): Promise<number> {
    await dialog.page.waitForFunction(
      ([wanted, text]) => {
        const last = (window as unknown as { said: { type: string }[] }).said.findLast(({ type }) => type === wanted);
        return last !== undefined && JSON.stringify(last).includes(text);
      },
      [type, part] as const,
    );
    return Number((await dialog.sentMessages(type)).at(-1)?.request);
  }

  /** Everything that the dialog can show at once. */
  async function busiest(dialog: Dialog): Promise<void> {
    await dialog.tell(opened(FILLED, 'edit'));
    const request = await lastRequest(dialog, 'list');
    await dialog.tell({ type: 'listed', request, models: models(40) });
    await dialog.page.locator('#test').click();
    const reason = { message: 'The provider does not accept the key.', action: 'Set the key of this provider again.' };
    const test = await lastRequest(dialog, 'test');
    const tests = [
      { use: 'chat', model: 'acme-large-2026-01' },
      { use: 'completion', model: 'acme-code' },
    ] as const;
    await dialog.tell(
      { type: 'testing', request: test, tests },
      { type: 'tested', request: test, use: 'chat', ok: false, status: 401, milliseconds: 231, reason },
      { type: 'tested', request: test, use: 'completion', ok: true, status: 200, milliseconds: 190, answer: 'a + b' },
    );
    await typeInto(dialog.page.locator('#id'), 'Not An Id');
  }

  const themes: readonly ThemeName[] = ['dark', 'light', 'hc-dark', 'hc-light'];
  for (const theme of themes) {
    for (const width of [1200, 300]) {
      it(`provider page: axe reports no violation, and the page fits: ${theme}, ${width} px`, async () => {
        const dialog = await host.open({ theme, width });
        await busiest(dialog);
        mkdirSync(ARTIFACTS, { recursive: true });
        await dialog.page.screenshot({ path: join(ARTIFACTS, `provider-${theme}-${width}.png`) });
        // The policy forbids other scripts: this one is added by the debugger.
        await inPage(dialog.page, 'the document is inspected', readFileSync(AXE, 'utf8'));
        const faults = await inPage(dialog.page, 'the checker runs in the page', async () => {
          const { axe } = window as unknown as {
            axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
          };
          const { violations } = await axe.run();
          return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
        });
        assert.deepEqual(faults, []);
        const overflow = await inPage(dialog.page, 'layout and style are no text', () => {
          const wide = [...document.querySelectorAll('main, footer, .picker ul, .rows')];
          return wide
            .filter((each) => each.scrollWidth > each.clientWidth)
            .map((each) => each.className || each.tagName);
        });
        assert.deepEqual(overflow, []);
        await dialog.close();
      });
    }
  }

  it('provider page: shows the empty form', async () => {
    const dialog = await host.open({ theme: 'dark', width: 900 });
    await dialog.tell(opened());
    await dialog.page.screenshot({ path: join(ARTIFACTS, 'provider-empty.png') });
    assert.equal(await dialog.page.locator('[aria-invalid="true"]').count(), 0);
    await dialog.close();
  });

  it('provider page: validates the id during typing and other fields on blur or save', async () => {
    const dialog = await host.open();
    await dialog.tell(opened());
    const { page } = dialog;
    await page.locator('#id').pressSequentially('mistral');
    await page.locator('[id="id-problem"]', { hasText: 'already' }).waitFor();
    assert.equal(await page.locator('[id="baseURL-problem"]').innerText(), '');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.locator('#id:focus').waitFor();
    assert.notEqual(await page.locator('[id="baseURL-problem"]').innerText(), '');
    assert.deepEqual(await dialog.sentMessages('save'), []);
    await dialog.close();
  });

  it('provider page: the format of next edits can be chosen and is saved', async () => {
    const dialog = await host.open();
    await dialog.tell(opened(FILLED, 'edit'));
    const { page } = dialog;
    await page.locator('summary', { hasText: 'next edits' }).click();
    await page.locator('#edit').selectOption('zeta-2.1');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.waitForFunction(() =>
      (window as unknown as { said: { type: string }[] }).said.some((each) => each.type === 'save'),
    );
    const [saved] = await dialog.sentMessages('save');
    assert.equal(saved?.form instanceof Object && 'edit' in saved.form ? saved.form.edit : undefined, 'zeta-2.1');
    await dialog.close();
  });

  it('provider page: uses only the answer to the last request', async () => {
    const dialog = await host.open();
    await dialog.tell(opened({ baseURL: 'https://one.example/v1' }));
    const first = await lastRequest(dialog, 'list');
    await typeInto(dialog.page.locator('#baseURL'), 'https://two.example/v1');
    await dialog.tell({ type: 'listed', request: first, models: models(3) });
    assert.equal(await dialog.page.locator('.picker').count(), 0);
    const second = await lastRequest(dialog, 'list', 'https://two.example/v1');
    await dialog.tell({ type: 'listed', request: second, models: models(2) });
    assert.equal(await dialog.page.locator('.picker li').count(), 2);
    await dialog.close();
  });

  it('provider page: nothing is requested from a host or a port that is still typed', async () => {
    const dialog = await host.open();
    const { page } = dialog;
    await page.clock.install({ time: 0 });
    await dialog.tell(opened());
    await page.clock.pauseAt(3_600_000);
    const asked = async () => (await dialog.sentMessages('list')).map(({ form }) => (form as ProviderForm).baseURL);
    for (const part of ['http://127.0.0.1', ':36', '28']) {
      await tabInto(page, page.locator('#baseURL'), part);
      await page.clock.runFor(1000);
      assert.deepEqual(await asked(), [], part);
    }
    await page.keyboard.type('3');
    await page.keyboard.press('Tab');
    await page.locator('#baseURL:not(:focus)').waitFor();
    await page.clock.runFor(500);
    assert.deepEqual(await asked(), ['http://127.0.0.1:36283']);
    await dialog.close();
  });

  it('provider page: nothing is requested from a host or a port that is changed before its path', async () => {
    const dialog = await host.open();
    const { page } = dialog;
    await page.clock.install({ time: 0 });
    await dialog.tell(opened({ baseURL: 'http://127.0.0.1:8080/v1' }));
    await page.clock.pauseAt(3_600_000);
    const asked = async () => (await dialog.sentMessages('list')).map(({ form }) => (form as ProviderForm).baseURL);
    await page.locator('#baseURL').click();
    for (const key of ['End', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'Backspace', 'Backspace']) {
      await page.keyboard.press(key);
    }
    await page.clock.runFor(1000);
    await page.keyboard.type('36');
    await page.clock.runFor(1000);
    assert.deepEqual(await asked(), ['http://127.0.0.1:8080/v1']);
    await page.keyboard.press('Tab');
    await page.locator('#baseURL:not(:focus)').waitFor();
    await page.clock.runFor(500);
    assert.deepEqual(await asked(), ['http://127.0.0.1:8080/v1', 'http://127.0.0.1:8036/v1']);
    await dialog.close();
  });

  it('provider page: the list of an address that stays as it is is requested also if its field keeps the focus', async () => {
    const dialog = await host.open();
    const { page } = dialog;
    await page.clock.install({ time: 0 });
    await dialog.tell(opened());
    await page.clock.pauseAt(3_600_000);
    await tabInto(page, page.locator('#baseURL'), 'http://127.0.0.1:8080');
    await page.clock.runFor(3500);
    assert.equal((await dialog.sentMessages('list')).length, 1);
    await dialog.close();
  });

  it('provider page: boxes and buttons have a gap above them', async () => {
    const dialog = await host.open({ width: 900 });
    const { page } = dialog;
    const gap = async (above: string, below: string) => {
      const [upper, lower] = [await page.locator(above).first().boundingBox(), await page.locator(below).boundingBox()];
      return upper && lower ? lower.y - upper.y - upper.height : assert.fail('one of them is absent');
    };
    await dialog.tell(opened());
    assert.ok((await gap('p.hint[role="status"]', '#add-model')) >= 8);
    await dialog.tell(opened({ baseURL: 'https://one.example/v1' }));
    const request = await lastRequest(dialog, 'list');
    await dialog.tell({ type: 'list-failed', request, reason: { message: 'It has no list.' } });
    assert.ok((await gap('fieldset:has(#models) > .hint', '.reason')) >= 8);
    await dialog.close();
  });

  for (const theme of themes) {
    it(`provider page: a primary button with the focus is seen: ${theme}`, async () => {
      const dialog = await host.open({ theme });
      await dialog.tell(opened());
      const save = dialog.page.locator('#save');
      await tabTo(dialog.page, save, 'Shift+Tab');
      const [width, offset] = await inElement(save, 'layout and style are no text', (each) => {
        const { outlineWidth, outlineOffset } = getComputedStyle(each);
        return [Number.parseFloat(outlineWidth), Number.parseFloat(outlineOffset)];
      });
      assert.ok(width && width >= 1 && offset && offset >= 1, `${width} pixels at ${offset}`);
      await dialog.close();
    });
  }

  it('provider page: selects and deselects all search results', async () => {
    const dialog = await host.open();
    await dialog.tell(opened({ baseURL: 'https://one.example/v1' }));
    await dialog.tell({ type: 'listed', request: await lastRequest(dialog, 'list'), models: models(1000) });
    await typeInto(dialog.page.locator('#model-search'), 'model-99');
    await dialog.page.locator('#select-all').check();
    const rows = dialog.page.locator('.rows .pair');
    assert.equal(await rows.count(), 11);
    await dialog.page.locator('#select-all').uncheck();
    assert.equal(await rows.count(), 0);
    await dialog.close();
  });

  it('provider page: a vendor that needs a key focuses the key, and its list is requested with the complete key', async () => {
    const dialog = await host.open();
    const { page } = dialog;
    await dialog.tell(opened());
    await page.locator('#preset').selectOption('mistral');
    await page.locator('#key:focus').waitFor();
    await page.locator('.hint', { hasText: 'Enter the key to list the models.' }).waitFor();
    assert.equal(
      await page.locator('a', { hasText: 'Get a key from Mistral' }).getAttribute('href'),
      'https://keys.example',
    );
    assert.match(await page.locator('legend', { hasText: 'API key' }).innerText(), /required/);
    assert.deepEqual(await dialog.sentMessages('list'), []);
    await page.keyboard.type('sk-1');
    const reason = { message: 'The key was not accepted.' };
    await dialog.tell({ type: 'list-failed', request: await lastRequest(dialog, 'list', 'sk-1'), reason });
    assert.equal(await page.locator('.reason').count(), 0, 'a key that is still typed is reported as wrong');
    await page.keyboard.press('Tab');
    await page.locator('.reason', { hasText: 'The key was not accepted.' }).waitFor();
    await dialog.close();
  });

  it('provider page: the list of the whole key stays, also if that of its beginning is refused late', async () => {
    const dialog = await host.open();
    const { page } = dialog;
    await dialog.tell(opened());
    await page.locator('#preset').selectOption('mistral');
    await page.locator('#key:focus').waitFor();
    await page.keyboard.type('sk-1');
    const early = await lastRequest(dialog, 'list');
    await page.keyboard.type('2');
    await dialog.tell({ type: 'list-failed', request: early, reason: { message: 'The key was not accepted.' } });
    await dialog.tell({ type: 'listed', request: await lastRequest(dialog, 'list', 'sk-12'), models: models(3) });
    await page.locator('#select-all').waitFor();
    await page.keyboard.press('Tab');
    await page.locator('#key:not(:focus)').waitFor();
    await page.locator('#select-all').waitFor();
    assert.equal(await page.locator('.reason').count(), 0);
    await dialog.close();
  });

  it('provider page: a key that the vendor requires must be entered before saving', async () => {
    const dialog = await host.open();
    await dialog.tell(opened());
    await dialog.page.locator('#preset').selectOption('mistral');
    await dialog.page.locator('#save').click();
    await dialog.page.locator('#key-problem', { hasText: 'Enter the key of Mistral.' }).waitFor();
    await dialog.page.locator('#key:focus').waitFor();
    assert.deepEqual(await dialog.sentMessages('save'), []);
    await dialog.close();
  });

  it('provider page: Enter in a field saves, after it has used the address at which the models were found', async () => {
    const dialog = await host.open();
    const { page } = dialog;
    await dialog.tell(opened({ id: 'acme', name: 'Acme', baseURL: 'https://acme.example' }));
    await page.getByLabel('Base URL').click();
    await dialog.tell({
      ...{ type: 'listed', request: await lastRequest(dialog, 'list'), models: models(3) },
      baseURL: 'https://acme.example/v1',
    });
    await page.keyboard.press('Enter');
    assert.equal(await page.getByLabel('Base URL').inputValue(), 'https://acme.example/v1');
    assert.deepEqual(await dialog.sentMessages('save'), []);
    await dialog.tell({ type: 'listed', request: await lastRequest(dialog, 'list'), models: models(3) });
    await page.keyboard.press('Enter');
    const [saved] = await dialog.sentMessages('save');
    assert.equal((saved?.form as ProviderForm | undefined)?.baseURL, 'https://acme.example/v1');
    await dialog.close();
  });

  it('provider page: says why nothing can be saved for a project, and keeps what the form began with', async () => {
    const dialog = await host.open();
    await dialog.tell({ ...opened(), targets: [TARGET], restricted: true } as ToDialog);
    await dialog.page.locator('#target-hint', { hasText: 'Trust this workspace' }).waitFor();
    await dialog.page.getByLabel('Start from').selectOption('mistral');
    assert.equal(await dialog.page.getByLabel('Start from').inputValue(), 'mistral');
    await dialog.tell({ type: 'servers', servers: [] });
    await dialog.page.getByRole('link', { name: 'Ollama' }).waitFor();
    await dialog.close();
  });

  it('provider page: a format that a test has tried is used if it works, and is no failure if not', async () => {
    for (const ok of [true, false]) {
      const dialog = await host.open();
      await dialog.tell(
        opened({ id: 'acme', name: 'Acme', baseURL: 'https://acme.example/v1', models: [{ id: 'coder', name: '' }] }),
      );
      await dialog.page.locator('#test').click();
      const request = await lastRequest(dialog, 'test');
      const tests = [
        { use: 'chat', model: 'coder' },
        { use: 'completion', model: 'coder', fim: 'template-qwen' },
      ] as const;
      const reason = { message: 'Not found.' };
      await dialog.tell(
        { type: 'testing', request, tests },
        { type: 'tested', request, use: 'chat', ok: true, status: 200, milliseconds: 9 },
        { type: 'tested', request, use: 'completion', ok, status: ok ? 200 : 404, milliseconds: 9, reason },
      );
      await dialog.page.locator('#trial', { hasText: ok ? 'Completions work' : 'known to complete code' }).waitFor();
      assert.equal(await dialog.page.locator('#fim').inputValue(), ok ? 'template-qwen' : '');
      assert.equal(await dialog.page.locator('.reason').count(), 0);
      await dialog.close();
    }
  });

  it('provider page: after a test without completions, the format can be chosen', async () => {
    const dialog = await host.open();
    await dialog.tell(
      opened({ id: 'acme', name: 'Acme', baseURL: 'https://acme.example/v1', models: [{ id: 'm', name: '' }] }),
    );
    await dialog.page.locator('#test').click();
    await dialog.tell({
      type: 'testing',
      request: await lastRequest(dialog, 'test'),
      tests: [{ use: 'chat', model: 'm' }],
    });
    await dialog.page.getByRole('button', { name: 'Choose its format' }).click();
    await dialog.page.locator('#fim:focus').waitFor();
    await dialog.close();
  });

  it('provider page: an empty form empties all fields, and the ID follows the name until it is edited', async () => {
    const dialog = await host.open();
    const { page } = dialog;
    await dialog.tell(opened());
    await page.locator('#preset').selectOption('mistral');
    await typeInto(page.locator('#name'), 'Mistral Work');
    assert.equal(await page.locator('#id').inputValue(), 'mistral-work');
    await typeInto(page.locator('#id'), 'mine');
    await typeInto(page.locator('#name'), 'Other');
    assert.equal(await page.locator('#id').inputValue(), 'mine');
    await page.locator('#preset').selectOption('');
    for (const field of ['name', 'id', 'baseURL', 'key']) {
      assert.equal(await page.locator(`#${field}`).inputValue(), '', field);
    }
    await dialog.close();
  });

  it('provider page: all models or only chosen ones are used, and the choice is kept', async () => {
    const dialog = await host.open();
    const { page } = dialog;
    await dialog.tell(opened({ id: 'one', baseURL: 'https://one.example/v1' }));
    await dialog.tell({ type: 'listed', request: await lastRequest(dialog, 'list'), models: models(3) });
    await page.locator('#all-models:checked').waitFor();
    await page.locator('#models').check();
    await page.locator('#save').click();
    await page.locator('#models-problem', { hasText: 'Choose at least one model' }).waitFor();
    await page.locator('.picker li input').first().check();
    await page.locator('#all-models').check();
    assert.equal(await page.locator('.rows .pair').count(), 0);
    await page.locator('#models').check();
    assert.equal(await page.locator('.rows .pair').count(), 1);
    await dialog.close();
  });

  it('provider page: the focus stays in the form when its control is removed', async () => {
    const dialog = await host.open();
    const { page } = dialog;
    const focused = () =>
      inPage(page, 'the focus is no text', () => document.activeElement?.id || document.activeElement?.tagName);
    await dialog.tell(opened(FILLED, 'edit'));
    await page.locator('button', { hasText: 'Replace' }).press('Enter');
    await page.locator('#key:focus').waitFor();
    await page.locator('.rows button').last().press('Enter');
    await page.locator('[id="models.0.id"]:focus').waitFor();
    await page.locator('.rows button').last().press('Enter');
    await page.locator('#add-model:focus').waitFor();
    await page.locator('.status button', { hasText: 'Cancel' }).press('Enter');
    await page.waitForFunction(() => document.activeElement !== document.body);
    assert.notEqual(await focused(), 'BODY');
    await dialog.close();
  });

  it('provider page: keys that follow a click at once are in the field that it shows', async () => {
    const dialog = await host.open();
    const { page } = dialog;
    await dialog.tell(opened(FILLED, 'edit'));
    await clickAndType(page, page.locator('#add-model'), 'acme-new');
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('[id="models.2.id"]')?.value === 'acme-new',
    );
    await clickAndType(page, page.locator('#add-header'), 'X-New');
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('[id="headers.2.name"]')?.value === 'X-New',
    );
    await clickAndType(page, page.locator('button', { hasText: 'Replace' }).first(), 'sk-2');
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#key')?.value === 'sk-2');
    await dialog.close();
  });

  it('provider page: states why a model cannot be tested', async () => {
    const dialog = await host.open();
    await dialog.tell(opened());
    const test = dialog.page.locator('#test');
    assert.equal(await test.getAttribute('aria-disabled'), 'true');
    assert.equal(await test.getAttribute('aria-describedby'), 'test-hint');
    assert.match(await dialog.page.locator('#test-hint').innerText(), /add a model/);
    await test.press('Enter');
    assert.deepEqual(await dialog.sentMessages('test'), []);
    await dialog.close();
  });

  it('provider page: shows each result of a test at once, with the model that was asked', async () => {
    const dialog = await host.open();
    await dialog.tell(opened(FILLED, 'edit'));
    await dialog.page.locator('#test').click();
    const request = await lastRequest(dialog, 'test');
    const tests = [
      { use: 'chat', model: 'big' },
      { use: 'completion', model: 'coder' },
    ] as const;
    await dialog.tell({ type: 'testing', request, tests });
    const trial = dialog.page.locator('#trial');
    await trial.filter({ hasText: 'Asking big, coder…' }).waitFor();
    await dialog.tell({ type: 'tested', request, use: 'completion', ok: true, milliseconds: 90, answer: 'a + b' });
    await trial.filter({ hasText: /Completions work: coder · 90 ms.*Asking big…/s }).waitFor();
    await dialog.tell({ type: 'tested', request, use: 'chat', ok: true, status: 200, milliseconds: 120 });
    await trial.filter({ hasText: 'Chat works: big · HTTP 200 · 120 ms' }).waitFor();
    assert.equal(await trial.locator('.codicon-loading').count(), 0);
    await dialog.close();
  });

  it('provider page: shows text of a provider as text', async () => {
    const dialog = await host.open();
    await dialog.tell(opened({ baseURL: 'https://one.example/v1' }));
    const hostile = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
    const request = await lastRequest(dialog, 'list');
    await dialog.tell({ type: 'listed', request, models: [{ id: hostile, name: hostile }] });
    assert.equal(await dialog.page.locator('.picker .name').innerText(), hostile);
    assert.equal(await dialog.page.locator('img, main script').count(), 0);
    await dialog.close();
  });

  it('provider page: is available in German', async () => {
    const dialog = await host.open({ words: bundle('l10n/bundle.l10n.de.json') });
    await dialog.tell(opened());
    const text = await dialog.page.locator('body').innerText();
    assert.match(text, /Eigenen Anbieter hinzufügen/);
    assert.doesNotMatch(text, /\b(Provider ID|Headers|Save for|Look for)\b/);
    await dialog.close();
  });
});
