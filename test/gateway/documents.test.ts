import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { adminPaths } from '../../src/gateway/admin/openapi.ts';
import { openApi } from '../../src/gateway/http/openapi.ts';
import { ERROR_TYPES } from '../../src/wire/errors/svc-error.ts';
import { ProjectFolder } from '../config/project-folder.ts';

const read = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

describe('documentation of the gateway', () => {
  it('docs/errors.md has a row for every error_type and no other', async () => {
    const rows = [...(await read('errors.md')).matchAll(/^\| `(\w+)` \| \d{3} \|/gm)].map((match) => match[1]);
    assert.deepEqual([...rows].sort(), [...ERROR_TYPES].sort());
  });

  it('docs/reliability.md names existing tests', async () => {
    const named = [...(await read('reliability.md')).matchAll(/`(test\/[\w/.-]+)`/g)].map((match) => match[1] ?? '');
    assert.ok(new Set(named).size > 15);
    for (const file of named) await access(new URL(`../../${file}`, import.meta.url));
  });

  it('docs/gateway.md names every path of the API', async () => {
    const text = await read('gateway.md');
    for (const path of Object.keys(openApi(adminPaths()).paths as object)) assert.ok(text.includes(path), path);
  });

  it('docs/gateway.md: the example configuration is valid and has no warnings', async () => {
    const blocks = [...(await read('gateway.md')).matchAll(/```jsonc\n([\s\S]*?)```/g)].map(([, block = '']) => block);
    const text = blocks.find((block) => block.includes('"listen"')) ?? '';
    using folder = new ProjectFolder();
    folder.env.ACME_MISTRAL_KEY = 'k';
    folder.global(`{${text}}`);
    const settings = await folder.load();
    assert.deepEqual(settings.diagnostics, []);
    const { organizations, allowedHosts, fallback, embeddingModels } = settings.gateway;
    assert.deepEqual([...organizations.keys(), ...allowedHosts], ['acme', 'ai.example.com']);
    assert.ok(organizations.get('acme')?.byok.has('mistral'));
    assert.equal(fallback.size + embeddingModels.size, 2);
  });
});
