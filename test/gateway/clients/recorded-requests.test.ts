import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { type StrictFormat, type StrictProvider, startStrictProvider } from '../../upstream/strict/strict-provider.ts';
import { providers, startTestGateway, type TestGateway } from '../gateway-under-test.ts';

const FOLDER = path.join(import.meta.dirname, 'requests');
const FORMATS: readonly StrictFormat[] = ['chat', 'responses', 'messages'];
const ROUTES = { chat: '/chat/completions', responses: '/responses', messages: '/messages' };

const requestsSchema = z.array(
  z.object({ path: z.string(), headers: z.record(z.string(), z.string()), body: z.record(z.string(), z.unknown()) }),
);

describe('requests of coding agents and SDKs as they arrive', () => {
  let under: TestGateway;
  let provider: StrictProvider;

  before(async () => {
    provider = await startStrictProvider();
    under = await startTestGateway({ config: () => ({ provider: providers(provider.url) }) });
  });
  after(async () => {
    await under.close();
    await provider.close();
  });

  for (const file of readdirSync(FOLDER)) {
    const client = path.basename(file, '.json');
    const requests = requestsSchema.parse(JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')));
    for (const [index, { path: route, headers, body }] of requests.entries()) {
      for (const format of FORMATS) {
        it(`${index === 0 ? 'the first' : 'the last'} request of ${client} is accepted by a strict ${format} provider`, async () => {
          // Reasoning is opaque: only the vendor that issued it accepts it.
          provider.begin(undefined, route === ROUTES[format] ? listSeals(body) : []);
          const response = await under.post(`/v1${route}`, { ...body, model: `${format}/m` }, headers);
          const text = await response.text();
          assert.deepEqual(provider.refusals, []);
          assert.equal(response.status, 200, text.slice(0, 1_000));
        });
      }
    }
  }
});

/** The signatures and encrypted contents of a request. */
function listSeals(body: unknown): string[] {
  const found: string[] = [];
  JSON.stringify(body, (key, value: unknown) => {
    if (typeof value === 'string' && ['signature', 'encrypted_content', 'data'].includes(key)) found.push(value);
    return value;
  });
  return found;
}
