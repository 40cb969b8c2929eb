import { failureHooks } from '../host/evidence.ts';
import { reportFailure } from '../host/failure-report.ts';
import { closeEditor } from './editor.ts';

export const mochaHooks: Mocha.RootHookObject = { ...failureHooks(reportFailure), afterAll: closeEditor };
