import { type Row, run, type Steps } from '../state/steps.ts';
import { BUCKET_MS } from '../state/usage-sums.ts';

/** A sum that differs from its rows. Nano-USD. */
export interface Difference {
  readonly what: string;
  readonly stored: number;
  readonly rows: number;
}

export interface StateCheck {
  /** Rows of the ledger that were read. */
  readonly rows: number;
  /** Nano-USD of the gateway's own credentials. */
  readonly spent: number;
  readonly differences: readonly Difference[];
}

/** Sums of quarters of an hour that differ from the rows of the ledger that are still kept, from `?1` on. */
const BUCKET_DIFFERENCES = `SELECT bucket, key, sum(stored) AS stored, sum(counted) AS counted,
    sum(requests) AS missing FROM (
    SELECT bucket, key, cost_nano AS stored, 0 AS counted, requests, input + output AS tokens
      FROM usage_rollup WHERE bucket >= ?1
    UNION ALL SELECT at - at % ${BUCKET_MS}, key, 0, coalesce(cost_nano, 0), -counted,
      -coalesce(input, 0) - coalesce(output, 0) FROM usage WHERE at >= ?1) AS parts
  GROUP BY bucket, key HAVING sum(stored) <> sum(counted) OR sum(requests) <> 0 OR sum(tokens) <> 0`;
/** The spending of each key and organization on each model, if it differs from all those sums. */
const SPENT_DIFFERENCES = `SELECT key, organization, model, sum(stored) AS stored,
    sum(counted) AS counted FROM (
    SELECT key, organization, model, nano AS stored, 0 AS counted FROM spent
    UNION ALL SELECT key, organization, model, 0, cost_nano FROM usage_rollup WHERE byok = 0) AS parts
  GROUP BY key, organization, model HAVING sum(stored) <> sum(counted)`;
const TOTALS = `SELECT (SELECT count(*) FROM usage) AS rows,
  (SELECT coalesce(sum(nano), 0) FROM spent) AS spent`;

/** Compares each sum with the rows that it was made from. */
export function* checkState(): Steps<StateCheck> {
  const [retained] = yield* run('SELECT since FROM retained');
  const buckets = yield* run(BUCKET_DIFFERENCES, [Number(retained?.since)]);
  const spent = yield* run(SPENT_DIFFERENCES);
  const [totals] = yield* run(TOTALS);
  const bucketName = ({ bucket, key, missing }: Row) => {
    const requests =
      Number(missing) === 0
        ? ''
        : `, ${Math.abs(Number(missing))} requests ${Number(missing) > 0 ? 'without a row' : 'too many'}`;
    return `quarter of an hour from ${new Date(Number(bucket)).toISOString().slice(0, 16)} UTC, key ${key}${requests}`;
  };
  const spentName = ({ key, organization, model }: Row) => `key ${key}, organization ${organization}, model ${model}`;
  const differences = [
    ...buckets.map((row) => difference(bucketName(row), row)),
    ...spent.map((row) => difference(spentName(row), row)),
  ];
  return {
    rows: Number(totals?.rows),
    spent: Number(totals?.spent),
    differences: differences.slice(0, MAX_DIFFERENCES),
  };
}

function difference(what: string, { stored, counted }: Row): Difference {
  return { what, stored: Number(stored), rows: Number(counted) };
}

const MAX_DIFFERENCES = 100;
