/** Writes the key tables of docs/configuration.md from src/config/schema/schema.ts: `node scripts/configuration-tables.ts`. */
import { readFile, writeFile } from 'node:fs/promises';
import { CONNECTION_OPTIONS, FIELD_OPTIONS } from '../src/config/schema/option-names.ts';
import { jsonSchema } from '../src/config/schema/schema.ts';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const at = (value: unknown, ...path: string[]): Json => {
  const found = path.reduce<unknown>((node, key) => (isObject(node) ? node[key] : undefined), value);
  return isObject(found) ? found : {};
};

/** The object among the alternatives of `object | null`. */
function objectOrEmpty(schema: Json): Json {
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf : [schema];
  return branches.filter(isObject).find((branch) => branch.type === 'object') ?? {};
}

/** Markdown tables by name, one for each object of the configuration. */
export function configurationTables(): ReadonlyMap<string, string> {
  const root = jsonSchema();
  const provider = objectOrEmpty(at(root, 'properties', 'provider', 'additionalProperties'));
  const model = objectOrEmpty(at(provider, 'properties', 'models', 'additionalProperties'));
  const gateway = at(root, 'properties', 'gateway');
  const organization = at(gateway, 'properties', 'organizations', 'additionalProperties');
  const objects: readonly (readonly [string, Json])[] = [
    ['root', root],
    ['provider', provider],
    ['options', at(provider, 'properties', 'options')],
    ['model', model],
    ['limit', at(model, 'properties', 'limit')],
    ['modalities', at(model, 'properties', 'modalities')],
    ['cost', at(model, 'properties', 'cost')],
    ['catalog', at(root, 'properties', 'catalog')],
    ['gateway', gateway],
    ['listen', at(gateway, 'properties', 'listen')],
    ['organization', organization],
    ['policy', at(organization, 'properties', 'policy')],
    ['telemetry', at(gateway, 'properties', 'telemetry')],
    ['pool', at(gateway, 'properties', 'pools', 'additionalProperties')],
  ];
  return new Map([...objects.map(([name, schema]) => [name, tableOf(schema)] as const), ['names', namesTable()]]);
}

/** The options with the names of other tools. */
function namesTable(): string {
  const formats = ['chat-completions', 'responses', 'messages'] as const;
  const fields = Object.entries(FIELD_OPTIONS).map(([name, paths]) => {
    const cells = formats.map((format) => (paths[format] === undefined ? 'no effect' : `\`${paths[format]}\``));
    return `| \`${name}\` | ${cells.join(' | ')} |`;
  });
  const connection = Object.entries(CONNECTION_OPTIONS).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`);
  return [
    ...['| Option | Chat Completions | Responses | Messages |', '|---|---|---|---|', ...fields, ''],
    ...['| Option of a provider | Meaning |', '|---|---|', ...connection],
  ].join('\n');
}

function tableOf(schema: Json): string {
  const rows = Object.entries(at(schema, 'properties')).map(([key, value]) => {
    const field = isObject(value) ? value : {};
    const standard = field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``;
    return `| \`${key}\` | ${typeOf(field)} | ${standard} | ${String(field.description ?? '').replaceAll('|', '\\|')} |`;
  });
  return ['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function typeOf(field: Json): string {
  if (Array.isArray(field.enum)) return field.enum.map((each) => `\`${each}\``).join(', ');
  if (Array.isArray(field.anyOf)) return field.anyOf.filter(isObject).map(typeOf).join(' or ');
  if (field.const !== undefined) return `\`${JSON.stringify(field.const)}\``;
  if (field.type === 'array') return `list of ${typeOf(at(field, 'items'))}`;
  return field.type === 'integer' ? 'whole number' : field.type === 'string' ? 'text' : String(field.type ?? 'any');
}

if (process.argv[1]?.endsWith('configuration-tables.ts')) {
  const file = new URL('../docs/configuration.md', import.meta.url);
  let docs = await readFile(file, 'utf8');
  for (const [name, table] of configurationTables()) {
    const marked = new RegExp(`<!-- table:${name} -->[\\s\\S]*?<!-- end -->`);
    docs = docs.replace(marked, () => `<!-- table:${name} -->\n${table}\n<!-- end -->`);
  }
  await writeFile(file, docs);
}
