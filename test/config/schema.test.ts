import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { configurationTables } from '../../scripts/configuration-tables.ts';
import { editorSchema } from '../../scripts/editor-schema.ts';
import { parse } from '../../src/config/load/parse.ts';
import { jsonSchema } from '../../src/config/schema/schema.ts';
import { validate } from '../../src/config/schema/validate.ts';

const SOURCE = { kind: 'global', path: 'svc.jsonc', trusted: true, status: 'loaded' } as const;

describe('the schema', () => {
  const FILES = { 'svc.schema.json': jsonSchema, 'svc.editor.json': editorSchema };
  for (const [name, create] of Object.entries(FILES)) {
    it(`schema: ${name} equals the committed file (node scripts/config-schema.ts)`, () => {
      const text = readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8');
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(create())));
    });
  }

  it('schema: that of VS Code’s JSON support has no keyword that reports a problem', () => {
    const text = JSON.stringify(editorSchema());
    assert.doesNotMatch(text, /"(pattern|minimum|exclusiveMinimum|required|minLength)":|"additionalProperties":false/);
  });

  it('schema: has a description for each key', () => {
    const undescribed: string[] = [];
    const walk = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const properties: unknown = Reflect.get(node, 'properties');
      for (const [key, value] of Object.entries(
        typeof properties === 'object' && properties !== null ? properties : {},
      )) {
        if (key !== 'disabled' && typeof Reflect.get(value, 'description') !== 'string')
          undescribed.push(`${path}.${key}`);
        walk(value, `${path}.${key}`);
      }
      for (const part of ['additionalProperties', 'items']) walk(Reflect.get(node, part), path);
      const branches: unknown = Reflect.get(node, 'anyOf');
      for (const branch of Array.isArray(branches) ? branches : []) walk(branch, path);
    };
    walk(jsonSchema(), '');
    assert.deepEqual(undescribed, []);
  });

  it('schema: docs/configuration.md has its tables (node scripts/configuration-tables.ts)', () => {
    const docs = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
    // The formatter pads columns.
    const bare = (text: string) => text.replaceAll(' ', '').replaceAll(/-{3,}/g, '---');
    for (const [name, table] of configurationTables()) {
      assert.ok(bare(docs).includes(bare(table)), `the table ${name} is not current`);
    }
  });

  it('schema: accepts the examples of docs/configuration.md', () => {
    const docs = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
    const examples = [...docs.matchAll(/```jsonc\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');
    assert.ok(examples.length >= 3);
    for (const example of examples) {
      const parsed = parse(example, SOURCE);
      assert.deepEqual(parsed.diagnostics, [], example);
      assert.ok(parsed.tree !== undefined);
      assert.deepEqual(validate(parsed.tree).diagnostics, [], example);
    }
  });
});
