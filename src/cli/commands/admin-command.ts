import { parseArgs } from 'node:util';
import { undiciTransport } from '../../provider/transport/undici-transport.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { openContext, withConfig } from '../cli-context.ts';
import { terminalActor } from '../input/terminal-actor.ts';
import { type Io, UsageError } from '../io.ts';
import { withState } from '../open-state.ts';
import { OPTIONS } from '../options.ts';

/** Milliseconds for the answer of the gateway. */
const ANSWER_MS = 5_000;

/** `svc admin link`: prints a link to the running gateway that signs a browser in once. */
export async function run(args: string[], outer: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS.admin });
  if (positionals.length !== 1 || positionals[0] !== 'link') throw new UsageError('Use svc admin link.');
  const io = withConfig(outer, values.config);
  const { settings } = await openContext(io);
  const { admin, listen, publicUrl } = settings.gateway;
  if (admin === undefined) {
    throw new SvcError({
      errorType: 'configuration_error',
      message: 'The admin page is off.',
      action: 'Set "admin": true in the gateway section of svc.jsonc.',
    });
  }
  const local = `http://127.0.0.1:${values.port ?? listen.port}`;
  const address = values['public-url'] ?? (values.port === undefined ? publicUrl : undefined) ?? local;
  await requireGateway(withoutSlash(address), io);
  const { token } = await withState(io, async (state) => {
    await state.record(terminalActor(io), { action: 'link.create', target: 'local' });
    return state.createLink();
  });
  await io.out(`${adminLink(address, token)}\n`);
  return 0;
}

/** @throws SvcError if no gateway answers at the address: the link would lead nowhere. */
async function requireGateway(address: string, io: Io): Promise<void> {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new UsageError('--public-url must be an address such as https://ai.example.com.');
  }
  const transport = undiciTransport({ env: io.env });
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    const { status } = await transport.send({ method: 'GET', url: `${address}/healthz`, headers: {}, signal });
    if (status !== 200) throw new Error(`status ${status}`);
  } catch (thrown) {
    io.signal.throwIfAborted();
    const reason = signal.aborted ? 'no answer in time' : thrown instanceof Error ? thrown.message : String(thrown);
    throw new SvcError({
      errorType: 'configuration_error',
      message: `No gateway answers at ${address}: ${reason.replace(/\.$/, '')}.`,
      action: 'Start it with `svc serve`, or name its address with --port, --public-url or gateway.publicUrl.',
    });
  } finally {
    await transport.close();
  }
}

/** The token is in the fragment, which browsers do not send to the server: no log contains it. */
export function adminLink(address: string, token: string): string {
  return `${withoutSlash(address)}/admin#${token}`;
}

function withoutSlash(address: string): string {
  return address.replace(/(?<!\/)\/+$/, '');
}
