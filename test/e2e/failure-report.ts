import { failureHooks } from '../host/failure-report.ts';
import { closeEditor } from './editor.ts';

export const mochaHooks: Mocha.RootHookObject = { ...failureHooks, afterAll: closeEditor };
