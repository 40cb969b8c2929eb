import { readFileSync } from 'node:fs';

/** The version of this package. The sources are one folder deeper than the bundle. */
export function version(): string {
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const value: unknown = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8'));
      if (typeof value === 'object' && value !== null && 'version' in value) return String(value.version);
    } catch {
      // Not found: try the next place.
    }
  }
  return 'unknown';
}
