import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { aborted } from '../../base/concurrency.ts';
import { nonEmptyString } from '../../base/json.ts';
import type { Accepted } from '../../config/settings/last-valid.ts';
import type { Diagnostic, Settings } from '../../config/settings/settings.ts';
import type { KeyCache } from '../../gateway/access/key-cache.ts';
import { type FileLog, LEVELS, type Level, openLog } from '../../gateway/accounting/log.ts';
import { Metrics } from '../../gateway/accounting/metrics.ts';
import { GatewayState } from '../../gateway/gateway-state.ts';
import { Pools } from '../../gateway/pools/pools.ts';
import { type Gateway, type GatewayParts, startGateway } from '../../gateway/server.ts';
import type { Telemetry } from '../../gateway/telemetry/telemetry.ts';
import { permittedAddresses } from '../../provider/transport/local-only.ts';
import { undiciTransport } from '../../provider/transport/undici-transport.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { terminalInput, withConfig, withoutProject } from '../cli-context.ts';
import { parseDecimal } from '../input/option-values.ts';
import { type Io, UsageError } from '../io.ts';
import { LiveConfiguration, type LiveConfigurationEvents } from '../live-configuration.ts';
import { type OpenedState, openGatewayState } from '../open-state.ts';
import { OPTIONS } from '../options.ts';
import { untilParentEnds } from '../parent.ts';
import { version } from '../version.ts';
import type { PrimaryChannel, StopOrder } from '../workers/primary-channel.ts';
import type { ServeOptions } from '../workers/run-workers.ts';
import { adminLink } from './admin-command.ts';

/**
 * Fixed keys from the process that starts the gateway, separated by spaces or commas. Not an argument, because `ps`
 * shows arguments.
 */
const KEY_VARIABLE = 'SVC_GATEWAY_KEY';
const DRAIN_SECONDS = 10;
/** The files of the admin page: beside the bundle, or where they are built when the gateway runs from its sources. */
const ADMIN_PAGE = ['../admin-page/', '../../../dist/admin-page/'].map((folder) =>
  fileURLToPath(new URL(folder, import.meta.url)),
);

/** `svc serve`: the gateway, until SIGTERM, SIGINT, SIGHUP or the end of its parent. */
export async function run(args: string[], outer: Io): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS.serve });
  const io = withoutProject(withConfig(outer, values.config), values['no-project']);
  const options: ServeOptions = {
    host: values.host,
    port: values.port === undefined ? undefined : parsePort(values.port),
    drainMs: parseSeconds(values.drain, '--drain', DRAIN_SECONDS) * 1000,
    delayMs: parseSeconds(values['drain-delay'], '--drain-delay', 0) * 1000,
    // With --no-project, the configuration of an untrusted folder must not set addresses.
    input: terminalInput(io),
    log: openLog(2, parseLevel(values['log-level'] ?? io.env.SVC_LOG_LEVEL)),
  };
  // Node's own text would be between the lines of JSON.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => options.log.warn({ warning: name }, message));
  const parent = { exitWithStdin: values['exit-with-stdin'] === true, parentPid: values['parent-pid'] };
  const workers = values.workers === undefined ? 1 : parseWorkers(values.workers);
  if (workers === 1) return serveAlone(options, io, untilParentEnds(io, parent));
  const { runWorkers } = await import('../workers/run-workers.ts');
  return runWorkers({ ...options, count: workers }, io, parent, (channel) =>
    serve(options, channel.io, channel.io.signal, channel),
  );
}

/** Loads the packages of telemetry only if the configuration asks for it. */
async function openTelemetry(settings: () => Settings, log: FileLog): Promise<Telemetry | undefined> {
  const { telemetry } = settings().gateway;
  if (telemetry === undefined) return undefined;
  const { hostname } = new URL(telemetry.endpoint);
  // The host has to be an address while `localOnly` is set, because it is looked up later.
  const permits = () => {
    const { localOnly } = settings();
    return localOnly === undefined || hostname === 'localhost' || permittedAddresses(localOnly)(hostname);
  };
  if (!permits()) {
    log.error({ host: hostname }, 'no telemetry is sent: its receiver is not in a network that localOnly allows');
  }
  const { OpenTelemetry } = await import('../../gateway/telemetry/open-telemetry.ts');
  return new OpenTelemetry(telemetry, log, permits);
}

/** Ignores the signal that replaces workers: without a listener, it would end the process and cut all streams. */
async function serveAlone(options: ServeOptions, io: Io, ended: AbortSignal): Promise<number> {
  const ignore = () => options.log.warn({}, 'SIGUSR2 was ignored: it replaces workers, see --workers');
  process.on('SIGUSR2', ignore);
  try {
    return await serve(options, io, ended);
  } finally {
    process.off('SIGUSR2', ignore);
  }
}

/** One gateway. @param worker if it is one of several processes. */
async function serve(options: ServeOptions, io: Io, ended: AbortSignal, worker?: PrimaryChannel): Promise<number> {
  const { log, port, drainMs, delayMs } = options;
  const fixed = fixedKeys(io);
  let connectionAge = 0;
  const transport = undiciTransport({ connectionAge: () => connectionAge });
  let state: GatewayState | undefined;
  let reloadsFailed: () => void = () => undefined;
  const events: LiveConfigurationEvents = {
    read: (settings) => {
      connectionAge = settings.gateway.connectionAge;
    },
    changed: (accepted) => {
      ({ connectionAge } = accepted.settings.gateway);
      reportReload(accepted, upstreams.diagnostics(), log);
      if (accepted.empty || accepted.refused.length > 0) reloadsFailed();
      // A state that is still being opened will read the current settings.
      state?.configure();
    },
    unlisted: (provider, error) => log.warn({ provider, error }, 'the provider does not list its models'),
    noWindowKeys: () =>
      log.warn({}, 'the VS Code window did not answer or is closed: the keys that were entered there are missing'),
  };
  const upstreams = await LiveConfiguration.open(io, transport, events, options.input);
  if (!hasModels(upstreams)) {
    if (isMeantToServe(upstreams.settings)) {
      upstreams.dispose();
      throw new SvcError({ errorType: 'configuration_error', ...NO_PROVIDER });
    }
    log.error({ alert: 'no-models' }, `${NO_PROVIDER.message} ${NO_PROVIDER.action}`);
  }
  if (worker?.first !== false) {
    logProblems([...upstreams.settings.diagnostics, ...upstreams.diagnostics()], log);
    warnOfUnpriced(upstreams, log);
  }
  let telemetry: Telemetry | undefined;
  let opened: OpenedState | undefined;
  /** Waits for other processes that write: nothing is served any more. */
  const lastWrite = () => {
    opened?.serving(false);
    return state?.ledger.flush();
  };
  // Parts that stay open after an error would keep the process alive.
  try {
    telemetry = await openTelemetry(() => upstreams.settings, log);
    opened = await openGatewayState(io, () => upstreams.settings.gateway, log, worker?.workers);
    state = new GatewayState({
      ...opened.state,
      settings: () => upstreams.settings.gateway,
      fixedKeys: fixed,
      log,
      fetch: transport.fetch,
    });
    const { keys, limits, ledger, running } = state;
    const { listen } = upstreams.settings.gateway;
    const host = options.host ?? listen.host;
    requireStoredKey(host, keys);
    opened.serving(true);
    const { shared, leases } = opened.state;
    await (leases ?? shared)?.ready();
    const metrics = new Metrics(() => ledger.waiting);
    reloadsFailed = () => metrics.reloadFailed();
    const parts: GatewayParts = {
      settings: () => upstreams.settings,
      registry: () => upstreams.registry,
      listing: upstreams.listing,
      pools: new Pools(
        () => upstreams.settings,
        () => upstreams.registry,
        log,
      ),
      keys,
      limits,
      running,
      ledger,
      metrics,
      transport,
      dispatcher: transport.dispatcher,
      log,
      telemetry,
      shared,
      peers: leases ?? shared,
      health: state.health,
      live: state.live,
      admin: state.admin,
      signIns: state.signIns,
      reports: state.reports,
      presence: state.presence,
      version: version(),
      proofSecret: nonEmptyString(io.env.SVC_GATEWAY_PROOF),
      adminPage: ADMIN_PAGE.find((folder) => existsSync(folder)),
    };
    const gateway = await startGateway(parts, { host, port: port ?? listen.port });
    worker?.serving({ ...parts, lastWrite });
    if (worker === undefined || worker.first) await announce(gateway, upstreams, state, io);
    upstreams.follow();
    state.follow();
    await aborted(ended);
    const hurry = new AbortController();
    io.onFurtherSignals?.(() => hurry.abort());
    await drain(gateway, { delayMs, drainMs, replaced: false, ...worker?.stopOrder }, hurry.signal, log);
  } finally {
    upstreams.dispose();
    state?.dispose();
    if (lastWrite() === false)
      await io.err(`svc: ${state?.ledger.waiting} rows of the usage ledger could not be written.\n`);
    await opened?.close();
    await telemetry?.close();
    await Promise.race([transport.close(), sleep(1_000, undefined, { ref: false })]);
    await log.close();
  }
  return 0;
}

/** Prints the address of the gateway, and that a key is missing. */
async function announce(gateway: Gateway, upstreams: LiveConfiguration, state: GatewayState, io: Io): Promise<void> {
  await io.out(`svc gateway listening on ${gateway.url}\n`);
  if (upstreams.settings.gateway.admin) await printAdminLink(gateway.url, state, io);
  if (state.keys.size === 0) await io.err('No key is available yet. Create one: svc keys create --name me\n');
}

/** Models that are named in a message. */
const MOST_NAMED = 5;

/** Says which configured models have no price. Models of lists without configuration are too many to name. */
function warnOfUnpriced({ registry }: LiveConfiguration, log: FileLog): void {
  const refs = [...registry.models.values()]
    .filter(({ source, cost, endpoint }) => source === 'config' && cost === undefined && endpoint.problem === undefined)
    .map(({ ref }) => ref);
  if (refs.length === 0) return;
  const named = refs.slice(0, MOST_NAMED).join(', ') + (refs.length > MOST_NAMED ? ', …' : '');
  const what = refs.length === 1 ? 'A model has' : `${refs.length} models have`;
  log.warn(
    { models: refs.length },
    `${what} no price, so requests count as 0 USD, and hard budgets refuse them: ${named}. Set \`cost\`, also if it is 0.`,
  );
}

/** The link works only on this machine, once and for a few minutes. A log of the output can't be used later. */
async function printAdminLink(url: string, state: GatewayState, io: Io): Promise<void> {
  const { hostname, port } = new URL(url);
  const local = /^(localhost|\[::1?\]|127(\.\d{1,3}){3}|0\.0\.0\.0|\[::\])$/.test(hostname);
  if (!local || io.styles !== true) return void (await io.out(`admin page: ${url}/admin\n`));
  const { token } = await state.admin.createLink();
  await io.out(`admin page: ${adminLink(`http://127.0.0.1:${port}`, token)}\n`);
}

const NO_PROVIDER = {
  message: 'No provider is configured, so no model can be used.',
  action:
    'Add one to svc.jsonc (`svc config path` prints its path), or set a provider’s key, for example MISTRAL_API_KEY.',
};

/**
 * Whether a configuration was named, or has a mistake: then a gateway without a model is one. Otherwise providers may be
 * added while it runs, as VS Code does.
 */
function isMeantToServe({ sources, diagnostics }: Settings): boolean {
  const named = sources.some(({ kind }) => kind === 'env-path' || kind === 'env-content');
  return named || diagnostics.some(({ severity }) => severity === 'error');
}

/** The log has one line for each problem, in the form of all its lines. */
function logProblems(diagnostics: readonly Diagnostic[], log: FileLog): void {
  for (const { severity, path, line, column, key, message } of diagnostics) {
    if (severity === 'information') continue;
    const write = severity === 'error' ? log.error : log.warn;
    write.call(log, { file: path, line, column, key }, message);
  }
}

function reportReload({ settings, refused, empty }: Accepted, more: readonly Diagnostic[], log: FileLog): void {
  logProblems([...settings.diagnostics, ...more], log);
  const providers = settings.providers.size;
  if (empty) {
    const text = 'the configuration has no provider any more: the last valid one stays in use';
    log.error({ alert: 'config-reload-failed', providers }, text);
  } else if (refused.length > 0) {
    const text = 'the configuration was reloaded with mistakes: their sections stay as they were';
    log.error({ alert: 'config-reload-failed', problems: refused.length, providers }, text);
  } else log.info({ providers }, 'the configuration was reloaded');
}

/** Whether any provider can be called, or a model list may still arrive. */
function hasModels({ registry, settings }: LiveConfiguration): boolean {
  if (settings.providers.size > 0) return true;
  return [...registry.models.values()].some(({ endpoint }) => endpoint.problem === undefined);
}

interface DrainTimes extends StopOrder {
  readonly drainMs: number;
}

/** @param hurry fires if the user does not want to wait: streams end immediately, and their usage is still written. */
async function drain(gateway: Gateway, times: DrainTimes, hurry: AbortSignal, log: FileLog): Promise<void> {
  if (times.delayMs > 0 && !times.replaced)
    log.info({ ...times }, 'not ready: accepting requests until the balancer has noticed');
  await gateway.announceClose(times.delayMs, hurry, times.replaced);
  log.info({ drainMs: times.drainMs }, 'stopping: rejecting new requests, waiting for running ones');
  const cut = await gateway.close(times.drainMs, hurry);
  if (cut > 0) log.warn({ cut }, 'requests were cut off');
  log.info({}, 'stopped');
}

function fixedKeys(io: Io): string[] {
  const keys = (io.env[KEY_VARIABLE] ?? '').split(/[\s,]+/).filter((key) => key !== '');
  if (keys.some((key) => key.length < 16))
    throw new UsageError(`A key in ${KEY_VARIABLE} must have 16 characters or more.`);
  return keys;
}

/** A public address without stored keys would give anyone free access. */
function requireStoredKey(host: string, keys: KeyCache): void {
  if (keys.stored > 0 || /^(localhost|::1|127(\.\d{1,3}){3})$/i.test(host)) return;
  throw new SvcError({
    errorType: 'configuration_error',
    message: `Listening on ${host} requires a key in the key store.`,
    action: 'Create one first: svc keys create --name NAME',
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError('--port must be a number from 0 to 65535.');
}

const MAX_WORKERS = 128;

function parseWorkers(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX_WORKERS) return count;
  throw new UsageError(`--workers must be a number from 1 to ${MAX_WORKERS}.`);
}

function parseSeconds(text: string | undefined, option: string, otherwise: number): number {
  if (text === undefined) return otherwise;
  const seconds = parseDecimal(text);
  if (seconds !== undefined) return seconds;
  throw new UsageError(`${option} must be a number of seconds.`);
}

function parseLevel(text: string | undefined): Level {
  if (text === undefined || text === '') return 'info';
  const level = LEVELS.find((each) => each === text);
  if (level !== undefined) return level;
  throw new UsageError(`The log level must be one of ${LEVELS.join(', ')}.`);
}
