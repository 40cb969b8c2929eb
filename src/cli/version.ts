import { readFileSync } from 'node:fs';

/** Of the package that this file is part of: the sources stand one folder deeper in it than the bundle. */
export function version(): string {
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const value: unknown = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8'));
      if (typeof value === 'object' && value !== null && 'version' in value) return String(value.version);
    } catch {
      // Not there: the next place.
    }
  }
  return 'unknown';
}
