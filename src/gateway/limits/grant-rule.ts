/** A request for a lease, when it is judged. All amounts are whole numbers of the same unit. */
interface Judged {
  /** No process holds it. */
  readonly free: number;
  /** The process that requests holds it, and it is not used. */
  readonly held: number;
  /** The request of a client that was refused needs it; negative if the process gives back. */
  readonly needed: number;
  /** All processes that share the limit. */
  readonly processes: number;
}

/**
 * The rule by which leases of rates are granted: an equal part of the free amount and the process's own, but at least
 * the need of a refused request, if it is free. Postgres (`postgres-rates.ts`) applies it in SQL.
 */
export function rateGrant({ free, held, needed, processes }: Judged): number {
  if (needed < 0) return 0;
  return Math.min(free, Math.max(needed, Math.ceil((free + held) / processes) - held));
}

/**
 * The rule for budgets: at most half of an equal part, because money is returned later than requests and tokens, and
 * never more than is wanted. Postgres (`postgres-budgets.ts`) applies it in SQL.
 *
 * @param wanted more of the lease; negative if the process gives back.
 */
export function budgetGrant({ free, held, needed, processes }: Judged, wanted: number): number {
  if (wanted < 0) return 0;
  const part = Math.min(wanted, (free + held) / (2 * processes) - held);
  return Math.floor(Math.min(free, Math.max(0, needed, part)));
}
