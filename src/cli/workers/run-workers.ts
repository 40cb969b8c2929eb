import cluster from 'node:cluster';
import { aborted } from '../../base/concurrency.ts';
import type { LoadInput } from '../../config/load/sources.ts';
import { SettingsStore } from '../../config/load/store.ts';
import type { FileLog } from '../../gateway/accounting/log.ts';
import { GatewayState } from '../../gateway/gateway-state.ts';
import { openState, stateFile } from '../../gateway/state/state-database.ts';
import type { KeptBudgets } from '../../gateway/workers/share-keeper.ts';
import { undiciTransport } from '../../provider/transport/undici-transport.ts';
import { requireManaged } from '../cli-context.ts';
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
  const channel = new PrimaryChannel(io, cluster.worker.id === 1);
  try {
    return await serve(channel);
  } finally {
    await channel.shares.dispose();
    await channel.close();
  }
}

async function runPrimary(options: WorkersOptions, io: Io, ended: AbortSignal): Promise<number> {
  const { log } = options;
  const budgets = await openBudgets(options, io);
  const primary = new Primary({ ...options, budgets });
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
    budgets.close();
    await log.close();
  }
}

interface OpenedBudgets extends KeptBudgets {
  close(): void;
}

/** The spending of the budgets in the local state. With Postgres, each worker has shares from there. */
async function openBudgets({ input, log }: WorkersOptions, io: Io): Promise<OpenedBudgets> {
  const store = new SettingsStore(() => input);
  await store.watch();
  const settings = await store.refresh();
  requireManaged(settings);
  if (settings.gateway.state !== undefined) {
    store.dispose();
    return { follow: () => undefined, find: () => undefined, close: () => undefined };
  }
  const transport = undiciTransport({ localOnly: settings.localOnly });
  const database = await openState(stateFile(io));
  const state = new GatewayState({
    database,
    settings: () => store.current.gateway,
    fixedKeys: [],
    log,
    fetch: transport.fetch,
  });
  store.onChange(({ localOnly }) => {
    transport.restrict(localOnly);
    state.configure();
  });
  state.follow();
  return {
    follow: () => state.book.follow(),
    find: (id) => {
      const found = state.limits.budget(id);
      if (found !== undefined) return found;
      // A worker has seen a new key first.
      state.keys.reload();
      return state.limits.budget(id);
    },
    close: () => {
      void transport.close();
      state.dispose();
      store.dispose();
      database.close();
    },
  };
}
