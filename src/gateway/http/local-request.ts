import { splitWords } from '../../base/split-words.ts';
import type { RequestContext } from './request-context.ts';

/** Headers that proxies, tunnels and CDNs add. Each adds some of them. */
const PROXY_HEADERS = [
  ...splitWords(`
    via forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded-port x-forwarded-server
    x-original-forwarded-for x-real-ip x-client-ip x-cluster-client-ip true-client-ip cf-connecting-ip cf-ray cdn-loop
    fastly-client-ip x-envoy-external-address
  `),
];
/** Host headers of requests from this machine. A request through a proxy may have the proxy's host. */
const LOCAL_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Whether a request comes from this machine without a proxy. nginx adds no header by default but sends HTTP/1.0. */
export function isLocal({ request }: RequestContext): boolean {
  const { headers, httpVersion, socket } = request;
  if (PROXY_HEADERS.some((name) => headers[name] !== undefined) || httpVersion === '1.0') return false;
  return LOCAL_HOST.test(headers.host ?? '') && /^(::1|(::ffff:)?127\.)/.test(socket.remoteAddress ?? '');
}
