import { failureHooks } from '../host/failure-report.ts';

export const mochaHooks: Mocha.RootHookObject = failureHooks;
