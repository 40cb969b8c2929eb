import { rollingRestart, threeReplicas } from './balancers.ts';
import { cpuFigures, steadyFigures } from './cpu.ts';
import { budgetFigure, cutOffReplica, killedPostgres, killedReplica, softBudget, stoppedServers } from './failures.ts';
import type { Figure, FleetOptions } from './fleet.ts';
import { sharedRates } from './rates.ts';
import { revocationFigure, silentListener } from './revocation.ts';

/** All measurements by name, in the order of the table. */
export const PARTS: Readonly<Record<string, (options: FleetOptions) => Promise<readonly Figure[]>>> = {
  cpu: cpuFigures,
  steady: steadyFigures,
  replicas: threeReplicas,
  revocation: revocationFigure,
  'silent-listen': silentListener,
  'replica-killed': killedReplica,
  budget: budgetFigure,
  'soft-budget': softBudget,
  rates: sharedRates,
  'cut-off': cutOffReplica,
  stopped: stoppedServers,
  'postgres-killed': killedPostgres,
  'rolling-restart': rollingRestart,
};
