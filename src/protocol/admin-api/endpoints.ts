import * as z from 'zod';
import * as schemas from './schemas.ts';

export interface Endpoint<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/admin/v1`. `{name}` is one segment of the path. */
  readonly path: string;
  readonly summary: string;
  /** The least scope that may call it; `open` needs no key. */
  readonly access: 'open' | schemas.Scope;
  readonly query: Query;
  readonly body: Body;
  /** `undefined`: 204 without a body. */
  readonly answer: Answer;
  /** The answer is a stream of server-sent events. */
  readonly stream?: true;
}

const NOTHING = { query: z.strictObject({}), body: z.strictObject({}), answer: z.undefined() } as const;

/** All endpoints of the admin API by name. */
export const ENDPOINTS = {
  createSession: {
    ...NOTHING,
    method: 'POST',
    path: '/session',
    summary: 'Start a session of a browser with a key or the token of a one-time link; sets the cookie',
    access: 'open',
    body: schemas.sessionInput,
    answer: schemas.session,
  },
  getSession: {
    ...NOTHING,
    method: 'GET',
    path: '/session',
    summary: 'Name and scope of the caller',
    access: 'own',
    answer: schemas.session,
  },
  endSession: { ...NOTHING, method: 'DELETE', path: '/session', summary: 'End the session', access: 'own' },
  createLink: {
    ...NOTHING,
    method: 'POST',
    path: '/links',
    summary: 'Create the token of a one-time link to the page, for a browser on the gateway’s machine',
    access: 'all',
    answer: schemas.link,
  },
  listKeys: {
    ...NOTHING,
    method: 'GET',
    path: '/keys',
    summary: 'Keys by name',
    access: 'read',
    query: schemas.keyQuery,
    answer: schemas.keyPage,
  },
  createKey: {
    ...NOTHING,
    method: 'POST',
    path: '/keys',
    summary: 'Create a key. The answer shows it once. An admin key needs the scope `all`',
    access: 'keys',
    body: schemas.newKey,
    answer: schemas.issuedKey,
  },
  getKey: { ...NOTHING, method: 'GET', path: '/keys/{name}', summary: 'One key', access: 'read', answer: schemas.key },
  changeKey: {
    ...NOTHING,
    method: 'PATCH',
    path: '/keys/{name}',
    summary: 'Replace the budgets of a key, its rates or both',
    access: 'keys',
    body: schemas.keyChange,
    answer: schemas.key,
  },
  rotateKey: {
    ...NOTHING,
    method: 'POST',
    path: '/keys/{name}/rotate',
    summary: 'Replace the secret of a key. The old one stays valid for a time',
    access: 'keys',
    body: schemas.rotation,
    answer: schemas.issuedKey,
  },
  revokeKey: {
    ...NOTHING,
    method: 'POST',
    path: '/keys/{name}/revoke',
    summary: 'Revoke a key; `cut` also ends its running requests',
    access: 'keys',
    body: schemas.revocation,
    answer: schemas.key,
  },
  getUsage: {
    ...NOTHING,
    method: 'GET',
    path: '/usage',
    summary: 'Sums of the ledger, as `svc usage` shows them; with `step` as a series, with `format=csv` as CSV',
    access: 'own',
    query: schemas.usageQuery,
    answer: schemas.usageAnswer,
  },
  listRequests: {
    ...NOTHING,
    method: 'GET',
    path: '/requests',
    summary: 'Requests, newest first',
    access: 'own',
    query: schemas.requestQuery,
    answer: schemas.requestPage,
  },
  followRequests: {
    ...NOTHING,
    method: 'GET',
    path: '/requests/live',
    summary: 'Requests as they end: events `request`, and `sample` if there are more than are shown',
    access: 'own',
    query: schemas.requestQuery.pick({
      key: true,
      user: true,
      organization: true,
      model: true,
      provider: true,
      outcome: true,
    }),
    answer: schemas.request,
    stream: true,
  },
  getRequest: {
    ...NOTHING,
    method: 'GET',
    path: '/requests/{id}',
    summary: 'One request with its attempts and the sum that made its price',
    access: 'own',
    answer: schemas.requestDetail,
  },
  listBudgets: {
    ...NOTHING,
    method: 'GET',
    path: '/budgets',
    summary: 'Budgets with what was spent of them, the most used first',
    access: 'own',
    answer: schemas.budgetList,
  },
  listConcerns: {
    ...NOTHING,
    method: 'GET',
    path: '/concerns',
    summary: 'What needs a person: budgets, providers, ledgers and keys',
    access: 'own',
    answer: schemas.concernList,
  },
  listOrganizations: {
    ...NOTHING,
    method: 'GET',
    path: '/organizations',
    summary: 'Organizations as configured',
    access: 'read',
    answer: schemas.organizationList,
  },
  listModels: {
    ...NOTHING,
    method: 'GET',
    path: '/models',
    summary: 'Models and pools with price and health',
    access: 'read',
    answer: schemas.modelList,
  },
  listProviders: {
    ...NOTHING,
    method: 'GET',
    path: '/providers',
    summary: 'Providers with health',
    access: 'read',
    answer: schemas.providerList,
  },
  listReplicas: {
    ...NOTHING,
    method: 'GET',
    path: '/replicas',
    summary: 'The processes of the gateway',
    access: 'read',
    answer: schemas.replicaList,
  },
  listAudit: {
    ...NOTHING,
    method: 'GET',
    path: '/audit',
    summary: 'Changes, newest first',
    access: 'read',
    query: schemas.auditQuery,
    answer: schemas.auditPage,
  },
} as const satisfies Readonly<Record<string, Endpoint>>;
