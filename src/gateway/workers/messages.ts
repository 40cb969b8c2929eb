import * as z from 'zod';
import { REQUEST_FILTERS } from '../accounting/request-history.ts';

/** The report of a worker about itself, when one of them requests those of all. */
const subject = z.enum(['metrics', 'replica', 'health']);
/** `of` is the address or the key that the sign-in counts for. */
const signedIn = z.object({ type: z.literal('sign-in'), of: z.string() });

/** A page that shows live requests; the primary passes the messages on to the other workers, or to that of the reader. */
const reader = z.string();
const liveMessages = [
  z.object({
    type: z.literal('live-follow'),
    reader,
    owner: z.object({ key: z.string(), isAdmin: z.boolean() }),
    filter: z.partialRecord(z.enum(REQUEST_FILTERS), z.string()),
  }),
  z.object({ type: z.literal('live-unfollow'), reader }),
  /** `text` is a request as the admin API shows it, in JSON. */
  z.object({ type: z.literal('live-request'), reader, text: z.string() }),
  /** Requests that are more than a reader is shown. */
  z.object({ type: z.literal('live-skipped'), reader, count: z.number() }),
] as const;
export const LIVE_MESSAGE = z.discriminatedUnion('type', liveMessages);

/** Messages of a worker to the primary. Answers have the number of their request. */
export const WORKER_MESSAGE = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('collect'), number: z.number(), subject }),
  z.object({ type: z.literal('own'), number: z.number(), text: z.string() }),
  /** The metrics of a worker that has answered all of its requests. */
  z.object({ type: z.literal('last-metrics'), text: z.string() }),
  signedIn,
  ...liveMessages,
]);
/** Messages of the primary to a worker. */
export const PRIMARY_MESSAGE = z.discriminatedUnion('type', [
  z.object({ type: z.literal('collect'), number: z.number(), subject }),
  z.object({ type: z.literal('collected'), number: z.number(), texts: z.array(z.string()) }),
  signedIn,
  ...liveMessages,
  z.object({ type: z.literal('stop'), delayMs: z.number(), replaced: z.boolean() }),
  z.object({ type: z.literal('hurry') }),
]);

export type WorkerMessage = z.infer<typeof WORKER_MESSAGE>;
export type PrimaryMessage = z.infer<typeof PRIMARY_MESSAGE>;
export type LiveMessage = z.infer<typeof LIVE_MESSAGE>;
export type Subject = z.infer<typeof subject>;
