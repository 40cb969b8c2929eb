import type { ChildProcess } from 'node:child_process';

let ends: Set<() => void> | undefined;

/**
 * Ends a program when the process of the tests ends, also by a signal: programs in a process group of their own get none,
 * and a VS Code without its parent keeps a core busy.
 *
 * @returns a function for when it has ended.
 */
export function endWithTests(end: () => void): () => void {
  ends ??= listen(new Set());
  ends.add(end);
  return () => void ends?.delete(end);
}

/** As `endWithTests`, for a child process. */
export function endChildWithTests(child: ChildProcess, signal: NodeJS.Signals): void {
  child.once(
    'exit',
    endWithTests(() => child.kill(signal)),
  );
}

function listen(all: Set<() => void>): Set<() => void> {
  // Without a handler, no `exit` follows a signal.
  process.once('SIGTERM', () => process.exit(143));
  process.once('SIGHUP', () => process.exit(129));
  process.once('exit', () => {
    for (const end of all) end();
  });
  return all;
}
