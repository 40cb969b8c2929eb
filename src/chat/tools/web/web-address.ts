import type { lookup } from 'node:dns';
import { isIP } from 'node:net';
import { isPublicAddress } from '../../../base/public-address.ts';

export interface WebOptions {
  /** Whether a connection to this IP address is permitted; default: public addresses only. */
  readonly permits?: (address: string) => boolean;
  /** Resolves host names; default: that of the system. */
  readonly resolve?: typeof lookup;
}

/** @throws Error unless it is an http(s) address without credentials, and its host is no private IP address. */
export function webAddress(written: string, { permits = isPublicAddress }: WebOptions = {}): URL {
  const url = URL.parse(written);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`${written.slice(0, 200)} is not an http(s) address.`);
  if (url.username !== '' || url.password !== '') throw new Error('An address with credentials is refused.');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !permits(host)) throw new Error(`${host} is not a public address.`);
  return url;
}
