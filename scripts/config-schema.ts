/** Writes the schemas from src/config/schema/schema.ts: `node scripts/config-schema.ts`. */
import { writeFile } from 'node:fs/promises';
import { jsonSchema } from '../src/config/schema/schema.ts';
import { editorSchema } from './editor-schema.ts';

const write = (name: string, schema: unknown) =>
  writeFile(new URL(`../schemas/${name}`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);

await write('svc.schema.json', jsonSchema());
await write('svc.editor.json', editorSchema());
