import { rollingRestart, threeReplicas } from './balancers.ts';
import { cpuFigures, steadyFigures } from './cpu.ts';
import { budgetFigure, cutOffReplica, killedPostgres, killedReplica, softBudget, stoppedServers } from './failures.ts';
import type { Figure, FleetOptions } from './fleet.ts';
import { coldStart, deaths, hostCutOff } from './hosts.ts';
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
  'cold-start': coldStart,
  death: deaths,
  'cut-off': cutOffReplica,
  'host-cut-off': hostCutOff,
  stopped: stoppedServers,
  'postgres-killed': killedPostgres,
  'rolling-restart': rollingRestart,
};
