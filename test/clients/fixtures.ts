import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { arrayOrEmpty, isObject, type JsonObject } from '../../src/base/json.ts';
import type { RecordedRequest } from './recorder.ts';

const FOLDER = path.join(import.meta.dirname, '..', 'gateway', 'clients', 'requests');
const LONGEST_TEXT = 200;
const LONGEST_DESCRIPTION = 40;
const MOST_PLAIN_TOOLS = 4;
/** The gateway's mark of the provider that issued opaque reasoning. */
const ISSUER = /svc\.by\.[0-9a-f]+\./g;
/** Notes of a client for its model, about the machine and the session. */
const REMINDER = /<system-reminder>[\s\S]*?(?:<\/system-reminder>|$)/g;

export interface Workspace {
  /** The folder with the file of the task. */
  readonly work: string;
  /** The home folder of the client: it must not read the developer's configuration. */
  readonly home: string;
}

/** The path of a request without its version and query: clients add `/v1` and `?beta=true`. */
function routeOf({ path: where }: RecordedRequest): string {
  return (where.split('?')[0] ?? '').replace(/^\/v1/, '');
}

/** The format whose requests these are, if it is one of the three. */
export function formatOfRequests(requests: readonly RecordedRequest[]): string | undefined {
  const routes = { '/chat/completions': 'chat', '/responses': 'responses', '/messages': 'messages' };
  return Object.entries(routes).find(([route]) => requests.some((request) => routeOf(request) === route))?.[1];
}

/**
 * Writes the first and the last request of a run for the fast suite: long texts are cut, most plain functions are left
 * out, and the folders of the machine are replaced.
 */
export function writeFixture(title: string, requests: readonly RecordedRequest[], workspace: Workspace): void {
  const answered = requests.filter(({ status, body }) => status === 200 && hasTools(body));
  // An answer that the client refers to by its id is not part of a fixture.
  const alone = answered.filter(({ body }) => !JSON.stringify(body).includes('"item_reference"'));
  const chosen = [...new Set([alone[0], alone.at(-1)])].filter((request) => request !== undefined);
  const fixture = chosen.map((request) => ({
    path: routeOf(request),
    headers: Object.fromEntries(Object.entries(request.headers).filter(([name]) => name.startsWith('anthropic-'))),
    body: { ...withoutMachine(trimBody(request.body), workspace), model: 'MODEL' },
  }));
  mkdirSync(FOLDER, { recursive: true });
  const name = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  writeFileSync(
    path.join(FOLDER, `${name}.json`),
    `[\n${fixture.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`,
  );
}

function hasTools(body: JsonObject): boolean {
  const items = arrayOrEmpty(body.input).filter(isObject);
  return arrayOrEmpty(body.tools).length > 0 || items.some(({ type }) => type === 'additional_tools');
}

function withoutMachine(body: JsonObject, { work, home }: Workspace): JsonObject {
  const text = JSON.stringify(body)
    .replaceAll(ISSUER, '')
    .replaceAll(work, '/workspace')
    .replaceAll(home, '/home/user');
  const value: unknown = JSON.parse(text.replaceAll(path.dirname(work), '/workspaces'));
  return isObject(value) ? value : {};
}

function trimBody(body: JsonObject): JsonObject {
  const called = usedNames(body);
  const trimmed = trim(body);
  return isObject(trimmed) ? { ...trimmed, ...trimTools(trimmed, called) } : {};
}

/** Names of the tools that the conversation calls. */
function usedNames(body: JsonObject): ReadonlySet<string> {
  const { tools: _, ...rest } = body;
  return new Set([...JSON.stringify(rest).matchAll(/"name":"([\w-]+)"/g)].flatMap(([, name]) => name ?? []));
}

function trimTools(body: JsonObject, called: ReadonlySet<string>): JsonObject {
  if (!Array.isArray(body.tools)) return {};
  let plain = 0;
  const tools = body.tools.filter((tool: unknown) => {
    if (!isObject(tool)) return true;
    const { name, type } = isObject(tool.function) ? { ...tool.function, type: 'function' } : tool;
    if ((type !== undefined && type !== 'function' && type !== 'custom') || tool.format !== undefined) return true;
    plain += 1;
    return plain <= MOST_PLAIN_TOOLS || called.has(String(name));
  });
  return { tools };
}

function trim(value: unknown, key = ''): unknown {
  if (typeof value === 'string') {
    const longest = key === 'description' ? LONGEST_DESCRIPTION : LONGEST_TEXT;
    const text = value.replaceAll(REMINDER, '<system-reminder>…</system-reminder>');
    return text.length > longest ? `${text.slice(0, longest)}…` : text;
  }
  if (Array.isArray(value)) return value.map((each) => trim(each));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, trim(each, name)]));
}
