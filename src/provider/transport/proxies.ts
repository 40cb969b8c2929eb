import { BlockList, isIP } from 'node:net';
import type { Dispatcher as DispatcherType } from 'undici';
import { upToFirst } from '../../base/text.ts';
import { msg, SvcError } from '../../wire/errors/svc-error.ts';
import { asTunnelError, failedAt } from './proxy-failure.ts';
import { type Agent, DecoratorHandler, Dispatcher, EnvHttpProxyAgent, Pool } from './undici.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Proxies of the environment by the protocol of the request. */
export interface Proxies {
  readonly http: string | undefined;
  readonly https: string | undefined;
  /** Whether requests to a host go to it directly. */
  readonly isDirect: (url: URL) => boolean;
}

/**
 * Reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Lower-case variables override upper-case ones, as in curl.
 *
 * @returns undefined without a proxy.
 * @throws SvcError configuration_error that names the variable.
 */
export function readProxies(env: Environment): Proxies | undefined {
  const http = readProxy(env, 'HTTP_PROXY');
  const https = readProxy(env, 'HTTPS_PROXY') ?? http;
  if (http === undefined && https === undefined) return undefined;
  const exceptions = readExceptions(readVariable(env, 'NO_PROXY')?.value ?? '');
  return { http, https, isDirect: (url) => isLoopback(bareHost(url)) || exceptions(url) };
}

function readVariable(env: Environment, name: string): { readonly name: string; readonly value: string } | undefined {
  for (const each of [name.toLowerCase(), name]) {
    const value = env[each]?.trim();
    if (value !== undefined) return { name: each, value };
  }
  return undefined;
}

function readProxy(env: Environment, variable: string): string | undefined {
  const { name, value } = readVariable(env, variable) ?? { name: variable, value: '' };
  if (value === '') return undefined;
  // curl and Go take an address without a scheme as http.
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const protocol = URL.canParse(address) ? new URL(address).protocol : '';
  if (protocol.startsWith('socks')) {
    throw wrongVariable(msg('{0} names a SOCKS proxy, which Svc can’t use.', name));
  }
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw wrongVariable(msg('{0} is not the address of a proxy.', name));
  }
  return address;
}

function wrongVariable(message: ReturnType<typeof msg>): SvcError {
  const action = msg('Write http://HOST:PORT, or unset the variable.');
  return new SvcError({ errorType: 'configuration_error', message, action });
}

/** No program on this machine is asked through a proxy, as in Go and curl's documentation of `localhost`. */
function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
}

function bareHost({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/^\[|\]$/g, '');
}

/** Names match with their subdomains, an entry may have a port, and networks are written as `10.0.0.0/8`. */
function readExceptions(text: string): (url: URL) => boolean {
  const entries = text.split(/[,\s]+/).filter(Boolean);
  if (entries.includes('*')) return () => true;
  const networks = new BlockList();
  const names: { readonly host: string; readonly port: string | undefined }[] = [];
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const version = isIP(address);
    if (bits !== undefined && version !== 0 && isPrefix(Number(bits), version)) {
      networks.addSubnet(address, Number(bits), version === 4 ? 'ipv4' : 'ipv6');
    } else names.push(readName(entry));
  }
  return (url) => {
    const host = bareHost(url);
    const version = isIP(host);
    if (version !== 0 && networks.check(host, version === 4 ? 'ipv4' : 'ipv6')) return true;
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    return names.some((name) => {
      if (name.port !== undefined && name.port !== port) return false;
      return host === name.host || host.endsWith(`.${name.host}`);
    });
  };
}

function isPrefix(bits: number, version: number): boolean {
  return Number.isInteger(bits) && bits >= 0 && bits <= (version === 4 ? 32 : 128);
}

function readName(entry: string) {
  const [, bracketed, bracketedPort] = /^\[(.+)\](?::(\d+))?$/.exec(entry) ?? [];
  if (bracketed !== undefined) return { host: bracketed.toLowerCase(), port: bracketedPort };
  const port = isIP(entry) === 6 ? undefined : /:(\d+)$/.exec(entry)?.[1];
  const name = port === undefined ? entry : upToFirst(entry, [':']);
  return { host: name.toLowerCase().replace(/^\*?\./, ''), port };
}

/** Sends a request through the proxy of its protocol, or directly. */
export class ProxyDispatcher extends Dispatcher {
  readonly #direct: Agent;
  readonly #proxied: EnvHttpProxyAgent;
  readonly #proxies: Proxies;
  /** The proxy by origin; `undefined` for a direct connection. */
  readonly #routes = new Map<string, string | undefined>();

  constructor(direct: Agent, options: Agent.Options, proxies: Proxies) {
    super();
    this.#direct = direct;
    this.#proxies = proxies;
    this.#proxied = new EnvHttpProxyAgent({
      ...options,
      httpProxy: proxies.http ?? '',
      httpsProxy: proxies.https ?? '',
      noProxy: '',
      // No tunnel for plain http, as in curl: many proxies allow tunnels only to port 443.
      proxyTunnel: false,
      clientFactory: (origin, client) => new TunnelPool(origin, client),
    });
  }

  override dispatch(options: DispatcherType.DispatchOptions, handler: DispatcherType.DispatchHandler): boolean {
    const proxy = this.#route(String(options.origin));
    if (proxy === undefined) return this.#direct.dispatch(options, handler);
    return this.#proxied.dispatch(options, new ProxiedHandler(handler, proxy));
  }

  override async close(): Promise<void> {
    await Promise.all([this.#direct.close(), this.#proxied.close()]);
  }

  override async destroy(): Promise<void> {
    await Promise.all([this.#direct.destroy(), this.#proxied.destroy()]);
  }

  #route(origin: string): string | undefined {
    if (this.#routes.has(origin)) return this.#routes.get(origin);
    const url = new URL(origin);
    const proxy = url.protocol === 'https:' ? this.#proxies.https : this.#proxies.http;
    const route = proxy === undefined || this.#proxies.isDirect(url) ? undefined : new URL(proxy).host;
    this.#routes.set(origin, route);
    return route;
  }
}

/** The connections to a proxy that become tunnels. */
class TunnelPool extends Pool {
  override connect(options: DispatcherType.ConnectOptions): Promise<DispatcherType.ConnectData>;
  override connect(
    options: DispatcherType.ConnectOptions,
    callback: (error: Error | null, data: DispatcherType.ConnectData) => void,
  ): void;
  override connect(
    options: DispatcherType.ConnectOptions,
    callback?: (error: Error | null, data: DispatcherType.ConnectData) => void,
  ): Promise<DispatcherType.ConnectData> | undefined {
    if (callback !== undefined) {
      super.connect(options, callback);
      return undefined;
    }
    return super.connect(options).catch((thrown: unknown) => {
      throw asTunnelError(thrown);
    });
  }
}

/** Marks failures with the proxy. undici makes a failure of its 407. */
class ProxiedHandler extends DecoratorHandler {
  readonly #proxy: string;

  constructor(handler: DispatcherType.DispatchHandler, proxy: string) {
    super(handler);
    this.#proxy = proxy;
  }

  override onResponseError(controller: DispatcherType.DispatchController, error: Error): void {
    failedAt(error, this.#proxy);
    super.onResponseError(controller, error);
  }
}
