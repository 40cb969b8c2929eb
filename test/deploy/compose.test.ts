import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { isObject } from '../../src/base/json.ts';
import { COMPOSE_SCHEMA, programPath } from '../host/programs.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');
/** Files that the user writes. */
const OWN = ['./svc.jsonc', '.env'];

const compose: unknown = load(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8'), {
  schema: CORE_SCHEMA.withTags(mergeTag),
});

function member(value: unknown, name: string): Record<string, unknown> {
  const found = isObject(value) ? value[name] : undefined;
  assert.ok(isObject(found), name);
  return found;
}

describe('deploy/Dockerfile', () => {
  const lines = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8').split('\n');
  it('Dockerfile: its user is a number, group 0 may write its data, and it listens on all addresses', () => {
    assert.ok(lines.includes('USER 1000:0'));
    assert.ok(lines.some((line) => line.includes('chown 1000:0 /data && chmod 2770 /data')));
    assert.ok(lines.includes('CMD ["serve", "--host", "::"]'));
  });

  it('Dockerfile: its health check tells a gateway that answers from one that does not', async () => {
    const [, , script = ''] = JSON.parse(/CMD (\["node", "-e", .*\])$/m.exec(lines.join('\n'))?.[1] ?? '[]');
    const server = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const check = () => promisify(execFile)(process.execPath, ['-e', script.replace('4180', String(port))]);
    await check();
    server.close();
    server.closeAllConnections();
    await assert.rejects(check(), { code: 1 });
  });
});

describe('deploy/compose.yaml', () => {
  it('compose: is valid by the schema of Debian’s docker-compose', () => {
    const schema = programPath(COMPOSE_SCHEMA);
    const ajv = new Ajv({ strict: false, validateFormats: false });
    // It is written for an older version of JSON Schema.
    const old = (key: string, value: unknown) => key === '$schema' || (key === 'id' && typeof value === 'string');
    const rules = JSON.parse(readFileSync(schema, 'utf8'), (key, value) => (old(key, value) ? undefined : value));
    const validate = ajv.compile(rules);
    // Extensions of the root are templates for the rest.
    assert.ok(validate(compose), JSON.stringify(validate.errors));
  });

  it('compose: names existing files, one volume for each gateway, and the addresses of the balancer', () => {
    const services = member(compose, 'services');
    const { environment } = member(services, 'balancer');
    const volumes = new Set<string>();
    for (const number of [1, 2, 3]) {
      const { volumes: mounted, build } = member(services, `gateway-${number}`);
      assert.ok(Array.isArray(mounted) && isObject(build));
      assert.ok(existsSync(join(DEPLOY, String(build.context), String(build.dockerfile))));
      for (const each of mounted) {
        const [source = ''] = String(each).split(':');
        if (source.startsWith('.')) assert.ok(OWN.includes(source) || existsSync(join(DEPLOY, source)), source);
        else volumes.add(source);
      }
      assert.ok(isObject(environment));
      assert.equal(environment[`SVC_GATEWAY_${number}`], `gateway-${number}:4180`);
    }
    assert.equal(volumes.size, 3);
    for (const volume of volumes) assert.ok(volume in member(compose, 'volumes'), volume);
    assert.match(readFileSync(join(DEPLOY, 'haproxy.cfg'), 'utf8'), /"\$\{SVC_GATEWAY_3-127\.0\.0\.1:4183\}"/);
  });
});
