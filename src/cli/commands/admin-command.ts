import { parseArgs } from 'node:util';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { openContext, withConfig } from '../cli-context.ts';
import { terminalActor } from '../input/terminal-actor.ts';
import { type Io, UsageError } from '../io.ts';
import { withState } from '../open-state.ts';
import { OPTIONS } from '../options.ts';

/** `svc admin link`: prints a link that signs a browser of this machine in once. */
export async function run(args: string[], outer: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS.admin });
  if (positionals.length !== 1 || positionals[0] !== 'link') throw new UsageError('Use svc admin link.');
  const io = withConfig(outer, values.config);
  const { settings } = await openContext(io);
  const { admin, listen } = settings.gateway;
  if (admin === undefined) {
    throw new SvcError({
      errorType: 'configuration_error',
      message: 'The admin page is off.',
      action: 'Set "admin": true in the gateway section of svc.jsonc.',
    });
  }
  const { token } = await withState(io, async (state) => {
    await state.record(terminalActor(io), { action: 'link.create', target: 'local' });
    return state.createLink();
  });
  await io.out(`${adminLink(Number(values.port ?? listen.port), token)}\n`);
  return 0;
}

/** The token is in the fragment, which browsers do not send to the server: no log contains it. */
export function adminLink(port: number, token: string): string {
  return `http://127.0.0.1:${port}/admin#${token}`;
}
