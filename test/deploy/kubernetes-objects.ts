import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';

export const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');

export function readDeployed(file: string): string {
  return readFileSync(join(DEPLOY, file), 'utf8');
}

/** The objects of a YAML text by their kind, checked by the schemas of Kubernetes. There is one of each kind. */
export function objectsOf<T extends Record<string, { new (value: never): { validate(): void } }>>(
  yaml: string,
  kinds: T,
): ReadonlyMap<string, ReturnType<typeof JSON.parse>> {
  const objects = new Map<string, ReturnType<typeof JSON.parse>>();
  for (const value of loadAll(yaml) as readonly ReturnType<typeof JSON.parse>[]) {
    const Kind = kinds[value.kind];
    assert.ok(Kind, value.kind);
    new Kind(value as never).validate();
    objects.set(value.kind, value);
  }
  assert.deepEqual([...objects.keys()].sort(), Object.keys(kinds).sort());
  return objects;
}
