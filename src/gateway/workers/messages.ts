import * as z from 'zod';

/**
 * After an update, the first process is still that of an earlier release, in which workers also asked for other reports
 * than metrics: it drops messages without the subject, and its requests for other reports are not answered.
 */
const subject = z.literal('metrics').optional();
/** `of` is the address or the key that the sign-in counts for. */
const signedIn = z.object({ type: z.literal('sign-in'), of: z.string() });

/** Messages of a worker to the primary. Answers have the number of their request. */
export const WORKER_MESSAGE = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  /** Requests the metrics of all workers. */
  z.object({ type: z.literal('collect'), number: z.number(), subject }),
  z.object({ type: z.literal('own'), number: z.number(), text: z.string() }),
  /** The metrics of a worker that has answered all of its requests. */
  z.object({ type: z.literal('last-metrics'), text: z.string() }),
  signedIn,
]);
/** Messages of the primary to a worker. */
export const PRIMARY_MESSAGE = z.discriminatedUnion('type', [
  /** Requests the metrics of the worker. */
  z.object({ type: z.literal('collect'), number: z.number(), subject }),
  z.object({ type: z.literal('collected'), number: z.number(), texts: z.array(z.string()) }),
  signedIn,
  z.object({ type: z.literal('stop'), delayMs: z.number(), replaced: z.boolean() }),
  z.object({ type: z.literal('hurry') }),
]);

export type WorkerMessage = z.infer<typeof WORKER_MESSAGE>;
export type PrimaryMessage = z.infer<typeof PRIMARY_MESSAGE>;
