import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { openApi } from '../../src/gateway/openapi.ts';
import { ERROR_TYPES } from '../../src/wire/errors.ts';

const read = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

describe('what the documents promise', () => {
  it('docs/errors.md has a row for every error_type and no other', async () => {
    const rows = [...(await read('errors.md')).matchAll(/^\| `(\w+)` \| \d{3} \|/gm)].map((match) => match[1]);
    assert.deepEqual([...rows].sort(), [...ERROR_TYPES].sort());
  });

  it('docs/gateway.md names every path of the API', async () => {
    const text = await read('gateway.md');
    for (const path of Object.keys(openApi().paths as object)) assert.ok(text.includes(path), path);
  });
});
