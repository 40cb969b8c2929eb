import type * as z from 'zod';
import type { Endpoint } from '../../protocol/admin-api/endpoints.ts';
import { invalidRequest, SvcError } from '../../wire/errors/svc-error.ts';
import type { Models } from '../dispatch/models.ts';
import { parseBody, readBody } from '../http/request-body.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import type { Limits } from '../limits/limits.ts';
import type { HealthSources } from '../operations/health-report.ts';
import type { LiveRequests } from '../operations/live-requests.ts';
import type { Processes } from '../operations/replicas.ts';
import type { ReportQueue } from '../reports/report-queue.ts';
import { identifyViewer, requireScope, type SignIns, type Viewer } from './viewer.ts';

const MAX_BODY_BYTES = 256 * 1024;

/** The dependencies of the endpoints. */
export type Administration = Models &
  SignIns &
  Processes &
  HealthSources & { readonly limits: Limits; readonly live: LiveRequests; readonly reports: ReportQueue };

/** A checked request to an endpoint. */
export interface Call<Query, Body> {
  readonly context: RequestContext;
  /** Absent for an endpoint that needs no key. */
  readonly viewer: Viewer;
  readonly query: Query;
  readonly body: Body;
  /** The value of `{name}` in the path. */
  readonly name: string;
}

/** The handler has sent the answer itself. */
export const SENT = Symbol('sent');

/** Nobody in particular: the endpoint needs no key. */
const ANYONE: Viewer = { name: '', scope: 'own' };

/** All steps of a request: access, query, body, handler, answer. */
export function route<Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>(
  deps: SignIns,
  endpoint: Endpoint<Query, Body, Answer>,
  handler: (call: Call<z.output<Query>, z.output<Body>>) => Promise<z.output<Answer> | typeof SENT>,
): Route {
  const { method, path, access, query, body } = endpoint;
  return {
    method,
    path: `/admin/v1${path}`,
    withoutVersion: true,
    handle: async (context, params) => {
      const [name = ''] = Object.values(params);
      const viewer = access === 'open' ? ANYONE : await identifyViewer(deps, context);
      if (access !== 'open') requireScope(viewer, access);
      const read = method === 'POST' || method === 'PATCH';
      const call = {
        context,
        viewer,
        name,
        query: check(query, Object.fromEntries(context.query)),
        body: check(body, read ? await readJson(context) : {}),
      };
      const answer = await handler(call);
      if (answer === SENT) return;
      if (answer === undefined) context.writeHead(204, {}).end();
      else context.sendJson(200, answer);
    },
  };
}

async function readJson(context: RequestContext): Promise<unknown> {
  const bytes = await readBody(context, MAX_BODY_BYTES);
  return bytes.length === 0 ? {} : parseBody(bytes).value;
}

/** @throws SvcError 400 that names the first invalid member. */
function check<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  if (unknown !== undefined) throw invalidRequest(unknown, `There is no parameter “${unknown.slice(0, 100)}” here.`);
  throw invalidRequest(path, `${path === '' ? 'The body' : `“${path}”`} is not valid: ${issue?.message ?? 'unknown'}.`);
}

/** @throws SvcError 404. */
export function notFound(message: string): SvcError {
  return new SvcError({ status: 404, errorType: 'invalid_request', message });
}

/** A cursor as a client sends it back. @throws SvcError 400. */
export function readCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (text !== '' && writeCursor(text) === cursor) return text;
  throw invalidRequest('cursor', 'The cursor is not one of this gateway.');
}

export function writeCursor(text: string): string {
  return Buffer.from(text).toString('base64url');
}
