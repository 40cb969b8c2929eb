/** Writes schemas/svc.schema.json from src/config/schema/schema.ts: `node scripts/config-schema.ts`. */
import { writeFile } from 'node:fs/promises';
import { jsonSchema } from '../src/config/schema/schema.ts';

await writeFile(new URL('../schemas/svc.schema.json', import.meta.url), `${JSON.stringify(jsonSchema(), null, 2)}\n`);
