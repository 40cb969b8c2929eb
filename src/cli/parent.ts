import type { Io } from './io.ts';
import { UsageError } from './io.ts';

/** Interval between two checks of the parent process, in milliseconds. */
const POLL_MS = 1_000;

export interface ParentOptions {
  readonly exitWithStdin: boolean;
  readonly parentPid: string | undefined;
}

/** Fires if the parent process ends or if `io.signal` fires. */
export function untilParentEnds(io: Io, { exitWithStdin, parentPid }: ParentOptions): AbortSignal {
  const ended = new AbortController();
  const stop = () => ended.abort();
  if (exitWithStdin) io.input.on('end', stop).on('close', stop).on('error', stop).resume();
  if (parentPid !== undefined) {
    const pid = Number(parentPid);
    if (!Number.isSafeInteger(pid) || pid <= 0) throw new UsageError('--parent-pid must be a process id.');
    const timer = setInterval(() => {
      if (!isAlive(pid)) stop();
    }, POLL_MS);
    timer.unref();
  }
  const either = AbortSignal.any([io.signal, ended.signal]);
  // An input that is still being read would keep the process alive.
  either.addEventListener('abort', () => io.input.pause(), { once: true });
  return either;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // The process exists but belongs to another user.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM';
  }
}
