import { parseArgs } from 'node:util';
import { Sessions } from '../../gateway/admin/sessions.ts';
import { writeAudit } from '../../gateway/state/audit-log.ts';
import { openState, stateFile } from '../../gateway/state/state-database.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { openContext } from '../cli-context.ts';
import { terminalActor } from '../input/terminal-actor.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';

/** `svc admin link`: prints a link that signs a browser of this machine in once. */
export async function run(args: string[], outer: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS.admin });
  if (positionals.length !== 1 || positionals[0] !== 'link') throw new UsageError('Use svc admin link.');
  const io = values.config === undefined ? outer : { ...outer, env: { ...outer.env, SVC_CONFIG: values.config } };
  const { settings } = await openContext(io);
  const { admin, listen } = settings.gateway;
  if (admin === undefined) {
    throw new SvcError({
      errorType: 'configuration_error',
      message: 'The admin page is off.',
      action: 'Set "admin": true in the gateway section of svc.jsonc.',
    });
  }
  const database = await openState(stateFile(io));
  try {
    const { token } = new Sessions(database).createLink();
    writeAudit(database, terminalActor(io), { action: 'link.create', target: 'local' });
    await io.out(`${adminLink(Number(values.port ?? listen.port), token)}\n`);
    return 0;
  } finally {
    database.close();
  }
}

/** The token is in the fragment, which browsers do not send to the server: no log contains it. */
export function adminLink(port: number, token: string): string {
  return `http://127.0.0.1:${port}/admin#${token}`;
}
