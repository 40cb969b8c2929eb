import type { Actor } from '../../gateway/state/audit-log.ts';
import type { Io } from '../io.ts';

/** The user of the terminal, for the audit log. */
export function terminalActor({ env }: Io): Actor {
  return { who: `cli:${env.USER ?? env.USERNAME ?? 'unknown'}`, source: 'terminal' };
}
