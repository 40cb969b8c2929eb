import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { Dispatcher as DispatcherType } from 'undici';
import type { LocalOnly } from '../../config/settings/settings.ts';
import { msg, SvcError } from '../../wire/errors/svc-error.ts';
import { type Agent, buildConnector, Dispatcher } from './undici.ts';

type Resolve = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

const LOOPBACK = ['127.0.0.0/8', '::1/128', '0.0.0.0/32', '::/128'];

/** Whether an IP address is on this machine or in one of the networks. A network that can't be read is none. */
export function permittedAddresses({ networks }: LocalOnly): (address: string) => boolean {
  const permitted = new BlockList();
  for (const range of [...LOOPBACK, ...networks]) {
    const [net = '', bits] = range.split('/');
    const version = isIP(net);
    const length = bits === undefined ? (version === 4 ? 32 : 128) : Number(bits);
    if (version === 0 || !Number.isInteger(length) || length < 0 || length > (version === 4 ? 32 : 128)) continue;
    permitted.addSubnet(net, length, version === 4 ? 'ipv4' : 'ipv6');
  }
  return (address) => {
    const [plain = ''] = address.replace(/^\[|\]$/g, '').split('%');
    const version = isIP(plain);
    return version !== 0 && permitted.check(plain, version === 4 ? 'ipv4' : 'ipv6');
  };
}

/** Names the setting, so that the user knows why and where. */
function notLocal(host: string): SvcError {
  return new SvcError({
    errorType: 'permission_denied',
    message: msg('{0} is not on this machine or in a network that `localOnly` allows. Nothing was sent.', host),
    action: msg('Choose a model on this machine, or change `localOnly` in your svc.jsonc.'),
  });
}

/**
 * Opens connections to permitted addresses only. A name is resolved once: its address later, or for someone
 * else, is never used.
 */
export function localConnector(
  localOnly: LocalOnly,
  timeout: number,
  resolve: Resolve = lookup,
): buildConnector.connector {
  const permits = permittedAddresses(localOnly);
  const pinned = new Map<string, LookupAddress[]>();
  const checked: LookupFunction = (host, options, done) => {
    const answer = (found: LookupAddress[]) => {
      const local = found.filter(({ address }) => permits(address));
      const [first] = local;
      if (!first) return done(notLocal(host), '', 0);
      pinned.set(host, local);
      if (options.all) done(null, local);
      else done(null, first.address, first.family);
    };
    const known = pinned.get(host);
    if (known !== undefined) return answer(known);
    resolve(host, { ...options, all: true }, (error, found) => (error ? done(error, '', 0) : answer(found)));
  };
  const connect = buildConnector({ timeout, lookup: checked });
  return (options, done) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    // For an IP address, nothing is looked up.
    if (isIP(host) !== 0 && !permits(host)) done(notLocal(host), null);
    else connect(options, done);
  };
}

/** Sends requests by one dispatcher, or by another one for local addresses while `localOnly` is set. */
export class RestrictedDispatcher extends Dispatcher {
  readonly #open: DispatcherType;
  readonly #create: (connect: buildConnector.connector) => Agent;
  readonly #timeout: number;
  /** Connections from before are not used, so each change has its own agent. */
  #local: { readonly key: string; readonly agent: Agent } | undefined;

  constructor(open: DispatcherType, create: (connect: buildConnector.connector) => Agent, timeout: number) {
    super();
    this.#open = open;
    this.#create = create;
    this.#timeout = timeout;
  }

  restrict(localOnly: LocalOnly | undefined): void {
    const key = JSON.stringify(localOnly);
    if (key === this.#local?.key) return;
    // Requests that run end by themselves.
    void this.#local?.agent.close();
    this.#local =
      localOnly === undefined ? undefined : { key, agent: this.#create(localConnector(localOnly, this.#timeout)) };
  }

  /** No proxy is used while `localOnly` is set: it would pass the request on. */
  override dispatch(options: DispatcherType.DispatchOptions, handler: DispatcherType.DispatchHandler): boolean {
    return (this.#local?.agent ?? this.#open).dispatch(options, handler);
  }

  override async close(): Promise<void> {
    await Promise.all([this.#open.close(), this.#local?.agent.close()]);
  }

  override async destroy(): Promise<void> {
    await Promise.all([this.#open.destroy(), this.#local?.agent.destroy()]);
  }
}
