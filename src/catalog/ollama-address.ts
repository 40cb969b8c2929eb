import { isIPv6 } from 'node:net';
import type { Environment } from '../config/load/sources.ts';

/** The port of Ollama, and of `OLLAMA_HOST` without scheme and port. */
const PORT = '11434';

/**
 * The address of the user's Ollama without a path, such as `http://127.0.0.1:11434`: that of `OLLAMA_HOST`, which Ollama's
 * own programs read in the same way (envconfig/config.go of its repository), else the usual one. An address that
 * the server only listens at (`0.0.0.0`) is that of this machine.
 */
export function ollamaAddress(env: Environment): string {
  const value = (env.OLLAMA_HOST ?? '')
    .trim()
    .replaceAll(/^["']|["']$/g, '')
    .trim();
  const text = isIPv6(value) ? `[${value}]` : value;
  const [, scheme, host = '', port] =
    /^(?:(https?):\/\/)?(\[[\da-f:.]+\]|[^:/?#@[\]\s]*)(?::(\d+))?(?:\/.*)?$/i.exec(text) ?? [];
  const usual = scheme === undefined ? PORT : '';
  const used = Number(port) <= 65_535 ? port : usual;
  const name = host === '' || host === '0.0.0.0' ? '127.0.0.1' : host === '[::]' ? '[::1]' : host;
  const address = `${scheme ?? 'http'}://${name}${used === '' ? '' : `:${used}`}`;
  return URL.canParse(address) ? new URL(address).origin : `http://127.0.0.1:${PORT}`;
}

/** An address of the vendor table in this environment: that of Ollama has the origin of `ollamaAddress`. */
export function vendorAddress(vendor: string, address: string, env: Environment): string {
  return vendor === 'ollama' ? address.replace(new URL(address).origin, ollamaAddress(env)) : address;
}
