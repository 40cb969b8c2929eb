import { execFileSync } from 'node:child_process';

/**
 * Makes writes of a process fail beyond a size of a file, as on a full disk.
 *
 * @param bytes undefined for no limit.
 */
export function limitFiles(pid: number, bytes?: number): void {
  // Only the soft limit, so that it can be lifted again.
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:`]);
}
