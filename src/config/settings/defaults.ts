/** Defaults of the schema that the catalog uses too. In a file without zod, because the terminal starts without the schemas. */

/** Milliseconds until the first byte of an answer (spec 8). */
export const DEFAULT_TIMEOUT_MS = 300_000;
export const DEFAULT_NPM = '@ai-sdk/openai-compatible';
/** Address of the gateway. */
export const DEFAULT_LISTEN = { host: '127.0.0.1', port: 4180 } as const;
