import { closeSharedBrowser } from '../host/chromium.ts';
import { failureHooks } from '../host/evidence.ts';
import { reportFailure } from '../host/failure-report.ts';

export const mochaHooks: Mocha.RootHookObject = { ...failureHooks(reportFailure), afterAll: closeSharedBrowser };
