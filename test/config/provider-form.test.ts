import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  EMPTY_FORM,
  formProblems,
  freeId,
  normalizeForm,
  type ProviderForm,
  proposedId,
} from '../../src/config/provider-form/provider-form.ts';
import { parseFromDialog } from '../../src/protocol/provider-dialog.ts';

const GOOD: ProviderForm = {
  ...EMPTY_FORM,
  id: 'acme',
  baseURL: 'https://api.example.com/v1',
  target: '/home/svc.jsonc',
};
const CONTEXT = { taken: ['mistral'], projectTargets: ['/project/svc.jsonc'] };

const wrong = (form: Partial<ProviderForm>, keyOrigin?: string) =>
  formProblems({ ...GOOD, ...form }, { ...CONTEXT, keyOrigin }).map(({ field }) => field);

describe('provider form', () => {
  it('provider form: requires only an id and an address', () => {
    assert.deepEqual(wrong({}), []);
    assert.deepEqual(wrong({ id: '', baseURL: '' }), ['id', 'baseURL']);
  });

  for (const id of ['acme', 'a-b_c', '9', 'x2', '-a', '_']) {
    it(`provider form: accepts the id ${id}`, () => assert.deepEqual(wrong({ id }), []));
  }
  for (const id of ['Acme', 'a b', 'a/b', 'ä', 'a.b', 'mistral', ' acme']) {
    it(`provider form: rejects the id "${id}"`, () => assert.deepEqual(wrong({ id }), ['id']));
  }

  it('proposedId: returns an id that the form accepts for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.constantFrom('a', 'a-2', 'b')), (text, taken) => {
        const id = freeId(proposedId(text) || 'a', taken);
        return formProblems({ ...GOOD, id }, { ...CONTEXT, taken }).length === 0;
      }),
    );
    assert.equal(proposedId('Müller & Söhne GmbH'), 'muller-sohne-gmbh');
  });

  for (const baseURL of [
    'example.com',
    'ftp://example.com',
    'https://',
    'https://a b',
    'https://me:pass@example.com/v1',
  ]) {
    it(`provider form: rejects the address ${baseURL}`, () => assert.deepEqual(wrong({ baseURL }), ['baseURL']));
  }
  for (const baseURL of ['http://127.0.0.1:8080', 'https://[::1]/v1', ' https://example.com/v1/?a=b ']) {
    it(`provider form: accepts the address ${baseURL}`, () => assert.deepEqual(wrong({ baseURL }), []));
  }

  it('provider form: a project file must not read environment variables, in key or headers', () => {
    const target = '/project/svc.jsonc';
    assert.deepEqual(wrong({ target, key: { kind: 'env', name: 'KEY' } }), ['key']);
    assert.deepEqual(wrong({ target, headers: [{ name: 'X', value: 'Bearer {env:KEY}' }] }), ['headers.0.value']);
    assert.deepEqual(wrong({ key: { kind: 'env', name: 'KEY' } }), []);
  });

  it('provider form: a kept key is not valid for another origin', () => {
    const origin = 'https://api.example.com';
    assert.deepEqual(wrong({ key: { kind: 'kept' } }, origin), []);
    assert.deepEqual(wrong({ key: { kind: 'kept' }, baseURL: 'https://api.example.com/v2' }, origin), []);
    assert.deepEqual(wrong({ key: { kind: 'kept' }, baseURL: 'https://api.example.org/v1' }, origin), ['key']);
    assert.deepEqual(wrong({ key: { kind: 'kept' }, baseURL: 'http://api.example.com/v1' }, origin), ['key']);
  });

  it('provider form: a problem contains the index of its row', () => {
    const models = [
      { id: 'a', name: '' },
      { id: '', name: '' },
      { id: '', name: 'B' },
      { id: ' a ', name: '' },
    ];
    assert.deepEqual(wrong({ models }), ['models.2.id', 'models.3.id']);
    const headers = [
      { name: 'X-One', value: '1' },
      { name: 'x-one', value: '2' },
      { name: 'a b', value: '3' },
      { name: '', value: '4' },
      { name: 'X-Two', value: '' },
      { name: 'X-Three', value: 'a\nb' },
      { name: '', value: '' },
      { name: 'X-Four', value: '', kept: true },
    ];
    assert.deepEqual(wrong({ headers }), [
      'headers.1.name',
      'headers.2.name',
      'headers.3.name',
      'headers.4.value',
      'headers.5.value',
    ]);
  });

  it('provider form: {env:NAME} in the key field is a reference', () => {
    assert.deepEqual(normalizeForm({ ...GOOD, key: { kind: 'typed', value: ' {env:KEY} ' } }).key, {
      kind: 'env',
      name: 'KEY',
    });
    assert.deepEqual(normalizeForm({ ...GOOD, key: { kind: 'typed', value: '  ' } }).key, { kind: 'none' });
  });

  it('provider dialog: ignores unknown messages of the page', () => {
    assert.deepEqual(parseFromDialog({ type: 'save', form: GOOD, more: 1 }), { type: 'save', form: GOOD });
    for (const form of [
      { ...GOOD, api: 'smtp' },
      { ...GOOD, models: [{ id: 1, name: '' }] },
      { ...GOOD, id: null },
    ]) {
      assert.equal(parseFromDialog({ type: 'save', form }), undefined);
    }
    fc.assert(
      fc.property(fc.anything(), (value) => {
        parseFromDialog(value);
      }),
    );
  });
});
