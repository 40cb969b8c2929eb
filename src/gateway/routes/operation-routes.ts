import { type KeyCheck, requireKey } from '../access/authentication.ts';
import type { Ledger } from '../accounting/ledger.ts';
import type { Metrics } from '../accounting/metrics.ts';
import type { Models } from '../dispatch/models.ts';
import { isLocal } from '../http/local-request.ts';
import { proveProcess } from '../http/process-proof.ts';
import { type Route, unknownPath } from '../http/router.ts';
import type { SharedState } from '../shared-state.ts';

const NONCE = /^[\w-]{16,100}$/;

export interface Operation extends Pick<Models, 'registry' | 'listing'> {
  readonly keys: KeyCheck;
  readonly ledger: Pick<Ledger, 'broken' | 'full'>;
  readonly metrics: Pick<Metrics, 'write'>;
  /** Absent: the state is local. */
  readonly shared?: Pick<SharedState, 'status'> | undefined;
  /** The paths of the admin API for OpenAPI. */
  readonly adminPaths: () => Promise<Readonly<Record<string, object>>>;
  /** By which the process proves itself to those that started it. Absent: it can't. */
  readonly proofSecret?: string | undefined;
}

/** Routes for the operator of the gateway. */
export function operationRoutes(deps: Operation, accepting: () => boolean): Route[] {
  return [
    // Claude Code checks the base URL with `HEAD /`.
    { method: 'GET', path: '/', handle: (context) => context.sendJson(200, { api: '/openapi.json' }) },
    { method: 'GET', path: '/healthz', handle: (context) => context.sendJson(200, { status: 'ok' }) },
    {
      method: 'GET',
      path: '/proof',
      handle: (context) => {
        const nonce = context.query.get('nonce') ?? '';
        if (deps.proofSecret === undefined || !isLocal(context) || !NONCE.test(nonce)) throw unknownPath(context.path);
        const { pid } = process;
        const port = context.request.socket.localPort ?? 0;
        context.sendJson(200, { pid, proof: proveProcess(deps.proofSecret, { nonce, port, pid }) });
      },
    },
    {
      method: 'GET',
      path: '/readyz',
      handle: (context) => {
        const strict = context.request.url?.endsWith('?strict') === true;
        const state = deps.shared?.status ?? 'ok';
        // A gateway without its database still serves, until its keys are too old and it refuses all of them.
        const written = strict ? !deps.ledger.broken && state === 'ok' : !deps.ledger.full && state !== 'stale';
        const models = !deps.listing.wasListed ? 'listing' : deps.registry().models.size === 0 ? 'none' : 'ok';
        const ready = accepting() && written && models === 'ok';
        const ledger = deps.ledger.broken ? 'failing' : 'ok';
        context.sendJson(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', ledger, models, state });
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async (context) => {
        // Metrics contain names of models and costs, so requests from another machine need a key.
        if (!isLocal(context)) requireKey(context, deps.keys);
        const { text, contentType } = await deps.metrics.write();
        context.sendBytes(200, Buffer.from(text), { 'content-type': contentType });
      },
    },
    {
      method: 'GET',
      path: '/openapi.json',
      handle: async (context) => {
        const [{ openApi }, adminPaths] = await Promise.all([import('../http/openapi.ts'), deps.adminPaths()]);
        context.sendJson(200, openApi(adminPaths));
      },
    },
  ];
}
