import { BlockList, isIP } from 'node:net';
import { splitWords } from './split-words.ts';

/** Addresses that are not on the public internet (IANA special-purpose registries, RFC 6890). */
const IPV4 = splitWords(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
`);
/** Within 2000::/3; all others are refused anyway. 2002::/16 and 2001::/32 contain IPv4 addresses. */
const IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const refused = new BlockList();
for (const [list, type] of [
  [IPV4, 'ipv4'],
  [IPV6, 'ipv6'],
] as const) {
  for (const range of list) {
    const [net = '', prefix = ''] = range.split('/');
    refused.addSubnet(net, Number(prefix), type);
  }
}
const global = new BlockList();
global.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address belongs to the public internet: not private, loopback, link-local or reserved. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '').split('%', 1)[0] ?? '';
  switch (isIP(plain)) {
    case 4:
      return !refused.check(plain, 'ipv4');
    case 6:
      return global.check(plain, 'ipv6') && !refused.check(plain, 'ipv6');
    default:
      return false;
  }
}

/** Whether a host name of a URL is that of this machine or of the own network, without a lookup. */
export function isLocalHost(hostname: string): boolean {
  const plain = hostname.toLowerCase().replace(/^\[|\]$/g, '');
  if (isIP(plain) !== 0) return !isPublicAddress(plain);
  return !plain.includes('.') || /\.(?:localhost|local|lan|internal|home\.arpa)$/.test(plain);
}
