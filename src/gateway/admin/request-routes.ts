import { ENDPOINTS } from '../../protocol/admin-api/endpoints.ts';
import { invalidRequest, SvcError } from '../../wire/errors/svc-error.ts';
import { optionalKey } from '../access/authentication.ts';
import type { RequestFilter, RequestPosition } from '../accounting/request-history.ts';
import { whenLeft } from '../http/request-body.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import { describeRequest } from '../operations/request-description.ts';
import { type Administration, notFound, readCursor, route, SENT, writeCursor } from './call.ts';
import { describeDetail } from './request-view.ts';
import { readTime, readZone } from './usage-routes.ts';
import { ownFilter, type SignIns, sessionViewer, type Viewer } from './viewer.ts';

/** Requests: history, live, and one with its attempts. */
export function requestRoutes(deps: SignIns & Pick<Administration, 'live'>): Route[] {
  return [
    route(deps, ENDPOINTS.listRequests, async ({ context, viewer, query }) => {
      const { cursor, limit, since, until, tz, ...filter } = query;
      const zone = readZone(tz);
      const wanted = {
        ...filter,
        key: ownFilter(viewer, filter.key),
        since: readTime('since', since, zone) ?? 0,
        until: readTime('until', until, zone) ?? Number.MAX_SAFE_INTEGER,
        after: readPosition(cursor),
        limit,
      };
      const page = await deps.admin.requests(wanted, whenLeft(context));
      const { next } = page;
      return {
        data: page.requests.map(describeRequest),
        next: next ? writeCursor(`${next.at} ${next.requestId}`) : null,
      };
    }),
    route(deps, ENDPOINTS.followRequests, async ({ context, viewer, query }) => {
      follow(deps, context, viewer, { ...query, key: ownFilter(viewer, query.key) });
      return SENT;
    }),
    route(deps, ENDPOINTS.getRequest, async ({ viewer, name }) => {
      const rows = await deps.admin.request(name);
      const last = rows.find(({ counted }) => counted);
      // The requests of others do not exist for a key that is not an admin's.
      if (last === undefined || (viewer.scope === 'own' && last.key !== viewer.name)) {
        throw notFound('The ledger has no request with this id. It is written when a request has ended.');
      }
      return describeDetail(rows, last);
    }),
  ];
}

function readPosition(cursor: string | undefined): RequestPosition | undefined {
  const text = readCursor(cursor);
  if (text === undefined) return undefined;
  const [at = '', requestId] = text.split(' ');
  if (requestId !== undefined && /^\d{1,16}$/.test(at)) return { at: Number(at), requestId };
  throw invalidRequest('cursor', 'The cursor is not one of this gateway.');
}

/** Sends requests as they end until the client leaves or may not see them any more. A slow client misses some. */
function follow(
  deps: SignIns & Pick<Administration, 'live'>,
  context: RequestContext,
  viewer: Viewer,
  filter: RequestFilter,
): void {
  const owner = { key: viewer.name, isAdmin: viewer.scope !== 'own' };
  const full = deps.live.fullFor(owner);
  if (full !== undefined) {
    throw new SvcError({
      errorType: full === 'key' ? 'rate_limit_exceeded' : 'temporarily_unavailable',
      message: `Too many pages ${full === 'key' ? 'of this key ' : ''}show live requests.`,
      retryable: true,
      retryAfterMs: 10_000,
    });
  }
  const response = context.writeStreamHead();
  response.write(': connected\n\n');
  const send = (event: string, data: unknown) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const slow = () => response.writableNeedDrain;
  const remove = deps.live.add({
    owner,
    filter,
    show: (request) => {
      if (slow()) return false;
      send('request', request);
      return true;
    },
    sampled: (shown, total) => {
      if (!slow()) send('sample', { shown, total });
    },
    alive: () => {
      void mayStillSee(deps, context, viewer).then((may) => may || response.end());
      if (!slow()) response.write(': \n\n');
      return !response.destroyed && !response.writableEnded;
    },
    end: () => response.end(),
  });
  response.once('close', remove);
}

/** Whether the key or the session that started a stream is still valid. */
async function mayStillSee(deps: SignIns, context: RequestContext, { session }: Viewer): Promise<boolean> {
  if (session !== undefined) return (await sessionViewer(deps, session)) !== undefined;
  try {
    return optionalKey(context, deps.keys) !== undefined;
  } catch {
    return false;
  }
}
