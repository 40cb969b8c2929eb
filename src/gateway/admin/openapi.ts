import * as z from 'zod';
import { ENDPOINTS, type Endpoint } from '../../protocol/admin-api/endpoints.ts';
import { ERROR_ANSWER } from '../http/openapi.ts';

/** The paths of the admin API for OpenAPI. */
export function adminPaths(): Record<string, object> {
  const paths: Record<string, object> = {};
  for (const endpoint of Object.values(ENDPOINTS)) {
    const path = `/admin/v1${endpoint.path}`;
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: describe(endpoint) };
  }
  return paths;
}

/** The schemas that check the requests and that the types of the answers are made from. */
function describe({ method, path, summary, access, query, body, answer, stream }: Endpoint): object {
  const input = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' });
  const { properties = {}, required = [] } = input(query);
  const parameters = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
  const [, name] = /\{(\w+)\}/.exec(path) ?? [];
  const segment = name === undefined ? [] : [{ name, in: 'path', required: true, schema: { type: 'string' } }];
  const empty = answer instanceof z.ZodUndefined;
  const content = empty ? {} : { schema: z.toJSONSchema(answer) };
  const type = stream ? 'text/event-stream' : 'application/json';
  return {
    summary: access === 'open' ? summary : `${summary} (scope: ${access})`,
    tags: ['admin'],
    security: access === 'open' ? [] : [{ bearer: [] }, { session: [] }],
    parameters: [...segment, ...parameters],
    ...(method === 'POST' || method === 'PATCH'
      ? { requestBody: { required: true, content: { 'application/json': { schema: input(body) } } } }
      : {}),
    responses: {
      [empty ? 204 : 200]: { description: 'The answer.', ...(empty ? {} : { content: { [type]: content } }) },
      default: ERROR_ANSWER,
    },
  };
}
