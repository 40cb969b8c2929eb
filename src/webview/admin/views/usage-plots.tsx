import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { UsageAnswer, UsageSums } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import {
  formatCount,
  formatFineUsd,
  formatMilliseconds,
  formatPercent,
  formatRate,
  formatShort,
  formatShortUsd,
} from '../data/format.ts';
import type { Range } from '../data/period.ts';
import { Plot } from '../parts/plot.tsx';
import type { PlotProps } from '../parts/plot-canvas.ts';
import { costSeries, seriesOf } from './usage-series.ts';

type PlotOf = Omit<PlotProps, 'buckets' | 'cursor'>;

/** The plots of the period. They share one cursor. */
export function UsagePlots(props: {
  answer: UsageAnswer;
  buckets: readonly Range[];
  cursor: Signal<number | undefined>;
}) {
  const { answer, buckets, cursor } = props;
  const plots = useMemo(() => [spend(answer, buckets), ...totals(answer, buckets)], [answer, buckets]);
  return (
    <div class="plots">
      {plots.map((plot) => (
        <Plot key={plot.file} {...plot} buckets={buckets} cursor={cursor} />
      ))}
    </div>
  );
}

function spend(answer: UsageAnswer, buckets: readonly Range[]): PlotOf {
  const words = { unnamed: t('(none)'), others: t('Others') };
  return {
    title: t('Spend'),
    kind: 'stacked',
    series: costSeries(answer, buckets, words),
    format: formatFineUsd,
    short: formatShortUsd,
    file: 'spend',
  };
}

function totals({ steps }: UsageAnswer, buckets: readonly Range[]): PlotOf[] {
  const sums = (value: (row: UsageSums) => number) => seriesOf(steps, buckets, value);
  const known = (value: (row: UsageSums) => number | null) => seriesOf(steps, buckets, value, null);
  return [
    {
      title: t('Requests and failures'),
      kind: 'stacked',
      series: [
        { name: t('Answered'), color: 0, values: sums((row) => row.requests - row.failures - row.client_gone) },
        { name: t('Client left'), color: 7, values: sums((row) => row.client_gone) },
        { name: t('Refused by the gateway'), color: 2, values: sums((row) => row.refused) },
        { name: t('Failed at the provider'), color: 'bad', values: sums((row) => row.failures - row.refused) },
      ],
      format: formatCount,
      short: formatShort,
      file: 'requests',
    },
    {
      title: t('Time to the first byte'),
      kind: 'lines',
      series: [
        { name: 'p50', color: 1, values: known((row) => row.first_byte_p50_ms) },
        { name: 'p95', color: 2, values: known((row) => row.first_byte_p95_ms) },
        { name: 'p99', color: 3, values: known((row) => row.first_byte_p99_ms) },
      ],
      format: formatMilliseconds,
      short: formatMilliseconds,
      file: 'first-byte',
    },
    {
      title: t('Output tokens per second'),
      kind: 'lines',
      series: [{ name: t('Tokens per second'), color: 4, values: known((row) => row.output_tokens_per_second) }],
      format: formatRate,
      short: formatShort,
      file: 'output-speed',
    },
    {
      title: t('Tokens'),
      kind: 'stacked',
      series: [
        { name: t('Input, cached'), color: 5, values: sums((row) => row.cache_read_tokens) },
        { name: t('Input, not cached'), color: 0, values: sums((row) => row.input_tokens - row.cache_read_tokens) },
        { name: t('Output'), color: 4, values: sums((row) => row.output_tokens) },
      ],
      format: formatCount,
      short: formatShort,
      file: 'tokens',
    },
    {
      title: t('Cached share of the input'),
      kind: 'lines',
      series: [
        {
          name: t('Cached share'),
          color: 5,
          values: known((row) => (row.input_tokens === 0 ? null : row.cache_read_tokens / row.input_tokens)),
        },
      ],
      format: formatPercent,
      short: formatPercent,
      file: 'cached-share',
    },
    {
      title: t('Open streams (average)'),
      note: t('The time of all streams in a step, divided by the length of the step.'),
      kind: 'lines',
      series: [{ name: t('Open streams'), color: 6, values: seriesOf(steps, buckets, openStreams) }],
      format: formatRate,
      short: formatRate,
      file: 'open-streams',
    },
  ];
}

/** The time of all streams together, divided by the time in which they ran. */
function openStreams({ output_ms }: UsageSums, { since, until }: Range): number {
  return output_ms / (Math.min(until, Date.now()) - since);
}
