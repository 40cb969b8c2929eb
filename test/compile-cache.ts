import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * Where Node keeps compiled sources: it halves the time that a process needs to load them. Processes that tests start
 * get it as NODE_COMPILE_CACHE.
 */
export const COMPILE_CACHE = join(import.meta.dirname, '..', 'out', 'compile-cache');

// Mocha loads this file before the suites.
enableCompileCache(COMPILE_CACHE);
