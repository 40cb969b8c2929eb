import { closeSharedBrowser } from '../host/chromium.ts';
import { failureHooks } from '../host/failure-report.ts';

export const mochaHooks: Mocha.RootHookObject = { ...failureHooks, afterAll: closeSharedBrowser };
