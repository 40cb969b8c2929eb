import cluster from 'node:cluster';
import { aborted } from '../../base/concurrency.ts';
import type { LoadInput } from '../../config/load/sources.ts';
import type { FileLog } from '../../gateway/accounting/log.ts';
import type { Io } from '../io.ts';
import { type ParentOptions, untilParentEnds } from '../parent.ts';
import { Primary } from './primary.ts';
import { PrimaryChannel } from './primary-channel.ts';

export interface ServeOptions {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly drainMs: number;
  readonly delayMs: number;
  readonly input: LoadInput;
  readonly log: FileLog;
}

export interface WorkersOptions extends ServeOptions {
  readonly count: number;
}

/** Runs the primary, and in a worker `serve`. The primary starts this program again with the same arguments. */
export async function runWorkers(
  options: WorkersOptions,
  io: Io,
  parent: ParentOptions,
  serve: (channel: PrimaryChannel) => Promise<number>,
): Promise<number> {
  if (cluster.worker === undefined) return runPrimary(options, io, untilParentEnds(io, parent));
  const channel = new PrimaryChannel(io, cluster.worker.id === 1, options.count);
  try {
    return await serve(channel);
  } finally {
    await channel.close();
  }
}

async function runPrimary(options: WorkersOptions, io: Io, ended: AbortSignal): Promise<number> {
  const { log } = options;
  const primary = new Primary(options);
  const replace = () => primary.replace();
  // The first worker may accept requests long before the others: without a listener, the signal would end them all.
  process.on('SIGUSR2', replace);
  try {
    const started = await Promise.race([primary.start(), aborted(ended)]);
    if (started !== undefined && started !== 0) return started;
    await aborted(ended);
    return 0;
  } finally {
    process.off('SIGUSR2', replace);
    const hurry = new AbortController();
    io.onFurtherSignals?.(() => hurry.abort());
    await primary.end(hurry.signal);
    await log.close();
  }
}
