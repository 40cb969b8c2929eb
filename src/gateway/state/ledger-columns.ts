import * as z from 'zod';
import { isObject, quoteJson } from '../../base/json.ts';
import type { EstimateReason } from '../../protocol/admin-api/estimate-reason.ts';
import type { Usage } from '../../wire/event.ts';
import { readDetails, writeDetails } from './row-details.ts';
import type { Row } from './steps.ts';

type Stored = string | number | null;

/** A column of the ledger. */
interface Column {
  readonly name: string;
  /** In Postgres. SQLite has one type of integers. */
  readonly type: 'TEXT' | 'INTEGER' | 'BIGINT';
  readonly optional: boolean;
  /** Fractions are rounded. */
  readonly rounded: boolean;
  /** The value of rows that are older than the column. */
  readonly earlier: number | undefined;
}

const COLUMNS = new Map<z.ZodType, Column>();

/** @param schema reads the stored value. Postgres' driver passes 64-bit integers as text. */
function stored<S extends z.ZodType>(
  schema: S,
  name: string,
  type: Column['type'],
  { optional = false, rounded = false, earlier }: Partial<Pick<Column, 'optional' | 'rounded' | 'earlier'>> = {},
): S {
  COLUMNS.set(schema, { name, type, optional, rounded, earlier });
  return schema;
}

const text = (name: string) => stored(z.string(), name, 'TEXT');
const optionalText = (name: string) => stored(z.string().optional(), name, 'TEXT', { optional: true });
const integer = (name: string, type: Column['type'] = 'BIGINT') => stored(z.coerce.number(), name, type);
const optionalInteger = (name: string) => stored(z.coerce.number().optional(), name, 'BIGINT', { optional: true });
const tokens = (name: string) => stored(z.coerce.number().exactOptional(), name, 'BIGINT', { optional: true });
const milliseconds = (name: string) => stored(z.coerce.number(), name, 'BIGINT', { rounded: true });
const flag = (name: string, earlier?: number) => stored(z.number().transform(Boolean), name, 'INTEGER', { earlier });

const IDENTITY = {
  requestId: text('request_id'),
  /** 1 for the first upstream request of a request; 0 for a request that failed or was refused. */
  attempt: integer('attempt', 'INTEGER'),
  /** Unix milliseconds. */
  at: integer('at'),
};
const SPENDER = {
  key: text('key'),
  organization: text('organization'),
  user: text('user'),
  /** Labels that the client sent. */
  tags: stored(z.string().transform(readTags), 'tags', 'TEXT'),
};
const REQUEST = {
  endpoint: text('endpoint'),
  model: text('model'),
  provider: text('provider'),
  /** The organization paid with its own credential. */
  byok: flag('byok'),
  outcome: text('outcome'),
};
const TOKENS = {
  input: tokens('input'),
  output: tokens('output'),
  cacheRead: tokens('cache_read'),
  cacheWrite: tokens('cache_write'),
  cacheWrite1h: tokens('cache_write_1h'),
  reasoning: tokens('reasoning'),
};
const COST = {
  /** Nano-USD; undefined if the model's prices are not known. */
  cost: optionalInteger('cost_nano'),
  /** The upstream did not report all of the usage, or more than the request can cause. */
  estimated: flag('estimated'),
};
const TIMES = {
  /** Milliseconds from the request to the attempt, from the attempt to its first byte, from the request to its end. */
  waitMs: milliseconds('wait_ms'),
  firstByteMs: milliseconds('first_byte_ms'),
  durationMs: milliseconds('duration_ms'),
};
const END = {
  /** The row ends its request. One row of a request does, so these rows are the requests. */
  counted: flag('counted', 1),
  /** HTTP status that the client got, or that the upstream sent for an attempt that failed. */
  status: optionalInteger('status'),
  errorType: optionalText('error_type'),
  /** The prices that made the cost (price-text.ts). */
  prices: optionalText('prices'),
};

const DETAILS = { details: optionalText('details') };

const ROW = z.object({ ...IDENTITY, ...SPENDER, ...REQUEST, ...COST, ...TIMES, ...END });
const USAGE = z.object(TOKENS);

/**
 * One attempt, or the end of a request that no attempt answered (attempt 0). Contains numbers and names, no content. A
 * name is empty if there is none.
 */
export type UsageRow = Readonly<z.output<typeof ROW>> & {
  readonly usage: Usage | undefined;
  /** Why the usage is estimated. Rows of older releases have none. */
  readonly estimateReason?: EstimateReason | undefined;
};

type Group = Readonly<Record<string, z.ZodType>>;

function columnsOf(group: Group): Column[] {
  return Object.values(group).flatMap((schema) => COLUMNS.get(schema) ?? []);
}

/** In Postgres, `user` without quotation marks is the name of the role. */
const quote = (name: string) => (name === 'user' ? '"user"' : name);

function define(group: Group, database: 'sqlite' | 'postgres'): string[] {
  return columnsOf(group).map(({ name, type, optional, earlier }) => {
    const required = optional ? '' : ' NOT NULL';
    if (database === 'postgres') return `${quote(name)} ${type}${required}`;
    const value = earlier === undefined ? '' : ` DEFAULT ${earlier}`;
    return `${name} ${type === 'TEXT' ? type : 'INTEGER'}${required}${value}`;
  });
}

/** The columns by the migrations that add them. SQLite keeps the text of a table with its lines: one for each group. */
const CREATED = [IDENTITY, SPENDER, REQUEST, TOKENS, COST, TIMES];
export const LEDGER_DDL = {
  sqlite: {
    created: CREATED.map((group) => define(group, 'sqlite').join(', ')).join(',\n  '),
    end: define(END, 'sqlite'),
  },
  details: define(DETAILS, 'sqlite').join(', '),
  postgres: [...CREATED, END].flatMap((group) => define(group, 'postgres')).join(', '),
};

const ROW_FIELDS = ROW.keyof().options.flatMap((field) =>
  columnsOf({ at: ROW.shape[field] }).map((column) => ({ field, column })),
);
const TOKEN_FIELDS = USAGE.keyof().options.flatMap((field) =>
  columnsOf({ at: USAGE.shape[field] }).map((column) => ({ field, column })),
);
const LEDGER = [...[...ROW_FIELDS, ...TOKEN_FIELDS].map(({ column }) => column), ...columnsOf(DETAILS)];

export const LEDGER_COLUMNS = LEDGER.map(({ name, type }) => ({ name: quote(name), type }));

/** The values of `LEDGER_COLUMNS`. */
export function rowValues(row: UsageRow): Stored[] {
  const values: Stored[] = [];
  for (const { field, column } of ROW_FIELDS) values.push(toStored(row[field], column));
  for (const { field, column } of TOKEN_FIELDS) values.push(toStored(row.usage?.[field], column));
  values.push(writeDetails(row) ?? null);
  return values;
}

function toStored(value: UsageRow[keyof z.output<typeof ROW>], { optional, rounded }: Column): Stored {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return rounded ? Math.round(value) : value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value !== undefined) return JSON.stringify(value);
  return optional ? null : '';
}

const MEMBERS = LEDGER.map(({ name }, index) => `${index === 0 ? '{' : ','}"${name}":`);

/** A row of the ledger as JSON, with the names of the columns. Postgres reads it. */
export function rowToJson(row: UsageRow): string {
  let json = '';
  for (const [index, value] of rowValues(row).entries()) json += MEMBERS[index] + toJson(value);
  return `${json}}`;
}

/** A value as JSON. An amount that is no integer is not known. */
function toJson(value: Stored): string {
  if (typeof value !== 'string') return Number.isSafeInteger(value) ? String(value) : 'null';
  const json = quoteJson(value);
  // Most texts need no escape.
  if (json.length === value.length + 2) return json;
  return JSON.stringify(storableText(value));
}

/** Postgres stores no U+0000, in JSON neither, and no half of a pair. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').replaceAll('\\u0000', '');
}

/** The fields of a row. Those without a value in the database are absent. */
function fieldsOf(schema: z.ZodObject, row: Row): Row {
  return Object.fromEntries(
    Object.entries(schema.shape).flatMap(([field, each]) =>
      columnsOf({ each }).flatMap(({ name }) => (row[name] == null ? [] : [[field, row[name]]])),
    ),
  );
}

export function readRow(row: Row): UsageRow {
  const details = readDetails(row.details);
  const { input, output, ...rest } = USAGE.parse(fieldsOf(USAGE, row));
  const usage = input === undefined || output === undefined ? undefined : { input, output, ...details.usage, ...rest };
  return { ...ROW.parse(fieldsOf(ROW, row)), usage, estimateReason: details.estimateReason };
}

function readTags(text: string): Record<string, string> | undefined {
  const tags: unknown = text === '' ? undefined : JSON.parse(text);
  if (!isObject(tags)) return undefined;
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, String(value)]));
}
