import type { Io } from './io.ts';
import { UsageError } from './io.ts';

/** How often a parent is looked for, milliseconds. */
const LOOK_MS = 1_000;

export interface ParentOptions {
  readonly exitWithStdin: boolean;
  readonly parentPid: string | undefined;
}

/** Fires when the process that this one belongs to is gone, or when the terminal says stop. */
export function untilParentEnds(io: Io, { exitWithStdin, parentPid }: ParentOptions): AbortSignal {
  const ended = new AbortController();
  const stop = () => ended.abort();
  if (exitWithStdin) io.input.on('end', stop).on('close', stop).on('error', stop).resume();
  if (parentPid !== undefined) {
    const pid = Number(parentPid);
    if (!Number.isSafeInteger(pid) || pid <= 0) throw new UsageError('--parent-pid must be the number of a process.');
    const timer = setInterval(() => {
      if (!isAlive(pid)) stop();
    }, LOOK_MS);
    timer.unref();
  }
  const either = AbortSignal.any([io.signal, ended.signal]);
  // An input that is still read keeps the process alive after its work is done.
  either.addEventListener('abort', () => io.input.pause(), { once: true });
  return either;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // It is there, but somebody else's.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM';
  }
}
