import { hash } from 'node:crypto';
import type { Settings } from '../../config/settings/settings.ts';

/** Members that differ between machines with the same configuration, or that contain a secret. */
const IGNORED = new Set(['origin', 'source', 'sources', 'diagnostics', 'path', 'file', 'line', 'column', 'secret']);

/** A short hash of the configuration that is in effect, so that replicas with different ones are seen. */
export function configHash({ gateway, providers }: Settings): string {
  const text = JSON.stringify({ gateway, providers }, (name, value: unknown) => {
    if (IGNORED.has(name)) return undefined;
    if (value instanceof Map) return [...value];
    return value instanceof Set ? [...value] : value;
  });
  return hash('sha256', text).slice(0, 12);
}
