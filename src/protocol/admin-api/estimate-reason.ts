/**
 * Why the usage of a row is an estimate. Also read by the admin page, which can't import the tables.
 *
 * - `client_left`: the client left before the usage arrived.
 * - `interrupted`: the answer broke off.
 * - `not_reported`: the provider reported no usage. `partly_reported`: it reported no input or no output.
 * - `capped`: the provider reported more than the request can cause.
 */
export const ESTIMATE_REASONS = ['client_left', 'interrupted', 'not_reported', 'partly_reported', 'capped'] as const;
export type EstimateReason = (typeof ESTIMATE_REASONS)[number];
