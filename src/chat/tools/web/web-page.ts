import { lookup } from 'node:dns';
import type { Dispatcher } from 'undici';
import { isPublicAddress } from '../../../base/public-address.ts';
import { contentDecoder, isEncoded } from '../../../provider/transport/content-decoder.ts';
import { Agent } from '../../../provider/transport/undici.ts';
import { htmlText } from './html-text.ts';
import { type WebOptions, webAddress } from './web-address.ts';

const MAX_BYTES = 3 * 1024 * 1024;
const LIMIT_MS = 20_000;
const MAX_REDIRECTS = 5;

/**
 * Reads a page as text. Follows redirects within the origin, and from http to https of the same host; others are
 * returned, because the user has allowed one origin.
 */
export async function readWebPage(address: string, signal: AbortSignal, options: WebOptions = {}): Promise<string> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  const agent = checkingAgent(options);
  try {
    let url = webAddress(address, options);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await request(agent, url, limit);
      const location = header(response, 'location');
      if (response.statusCode < 300 || response.statusCode >= 400 || location === undefined)
        return await pageText(url, response);
      await response.body.dump({ limit: 16_384, signal: limit }).catch(() => undefined);
      const next = webAddress(new URL(location, url).href, options);
      if (!staysWithin(url, next)) return `The page redirects to ${next.href}. Call fetch_web_page with this address.`;
      url = next;
    }
    throw new Error(`${address} redirects more than ${MAX_REDIRECTS} times.`);
  } catch (thrown) {
    if (limit.aborted && !signal.aborted)
      throw new Error(`${address} did not answer within ${LIMIT_MS / 1000} seconds.`);
    throw thrown;
  } finally {
    void agent.destroy();
  }
}

function staysWithin(from: URL, to: URL): boolean {
  const upgrades = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  return from.origin === to.origin || (upgrades && from.hostname === to.hostname);
}

/** Connects to the very addresses that were checked: a name can't resolve to another one in between. */
function checkingAgent({ permits = isPublicAddress, resolve = lookup }: WebOptions): Agent {
  return new Agent({
    connect: {
      timeout: LIMIT_MS,
      lookup: (host, options, done) => {
        resolve(host, { ...options, all: true }, (error, found) => {
          if (error) return done(error, '', 0);
          const permitted = found.filter(({ address }) => permits(address));
          const [first] = permitted;
          if (!first || permitted.length < found.length)
            return done(Object.assign(new Error(`${host} is not on the public internet.`), { code: 'EACCES' }), '', 0);
          if (options.all) done(null, permitted);
          else done(null, first.address, first.family);
        });
      },
    },
  });
}

function request(agent: Agent, url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = url;
  const headers = { accept: 'text/html, text/*;q=0.9, application/json;q=0.8, */*;q=0.1', 'user-agent': 'Svc' };
  return agent.request({ origin, path: pathname + search, method: 'GET', headers, signal });
}

async function pageText(url: URL, response: Dispatcher.ResponseData): Promise<string> {
  const type = header(response, 'content-type') ?? 'text/plain';
  const isHtml = /html/i.test(type);
  if (!isHtml && !/^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|yaml))/i.test(type)) {
    response.body.on('error', () => undefined).destroy();
    throw new Error(`${url.href} is ${type.slice(0, 100)}, not text.`);
  }
  const { bytes, cut } = await readBody(response);
  const raw = decode(bytes, type);
  const { title, text } = isHtml ? htmlText(raw) : { title: '', text: raw };
  const status = response.statusCode === 200 ? '' : `Status ${response.statusCode}\n`;
  return `${status}${url.href}${title === '' ? '' : `\n${title}`}\n\n${text}${cut ? '\n[The page is larger than 3 MB. Its rest is left out.]' : ''}`;
}

async function readBody(response: Dispatcher.ResponseData): Promise<{ readonly bytes: Buffer; readonly cut: boolean }> {
  const encoding = header(response, 'content-encoding');
  const body =
    encoding !== undefined && isEncoded(encoding) ? response.body.pipe(contentDecoder(encoding)) : response.body;
  response.body.on('error', (error) => body.destroy(error));
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    const bytes: Uint8Array = part;
    parts.push(bytes);
    size += bytes.length;
    if (size <= MAX_BYTES) continue;
    response.body.destroy();
    return { bytes: Buffer.concat(parts).subarray(0, MAX_BYTES), cut: true };
  }
  return { bytes: Buffer.concat(parts), cut: false };
}

function decode(bytes: Buffer, type: string): string {
  const named = /charset=["']?([\w-]{1,40})/i.exec(type.slice(0, 200))?.[1];
  const declared = /<meta[^>]{0,200}charset=["']?([\w-]{1,40})/i.exec(bytes.subarray(0, 2048).toString('latin1'))?.[1];
  try {
    return new TextDecoder(named ?? declared ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function header({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
