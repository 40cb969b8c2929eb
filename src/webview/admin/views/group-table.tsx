import type { UsageAnswer } from '../../../gateway/admin/api/schemas.ts';
import { t } from '../../shared/words.ts';
import { formatCount, formatPercent, formatUsd } from '../data/format.ts';
import { saveCsv } from '../parts/csv-file.ts';
import { Table } from '../parts/table.tsx';
import { addUp, type Group, groupsOf } from './usage-series.ts';

/** The sums of each group, and of all. */
export function GroupTable({ answer, title }: { answer: UsageAnswer; title: string }) {
  const groups = groupsOf(answer, t('(none)'));
  const total = { name: t('Total'), sums: { ...addUp([answer.total]) } };
  const share = ({ sums }: Group) => (sums.input === 0 ? '–' : formatPercent(sums.cached / sums.input));
  const columns = [
    { name: title, cell: ({ name }: Group) => name },
    { name: t('Requests'), look: 'number' as const, cell: ({ sums }: Group) => formatCount(sums.requests) },
    { name: t('Failures'), look: 'number' as const, cell: ({ sums }: Group) => formatCount(sums.failures) },
    { name: t('Input tokens'), look: 'number' as const, cell: ({ sums }: Group) => formatCount(sums.input) },
    { name: t('Cached'), look: 'number' as const, cell: share },
    { name: t('Output tokens'), look: 'number' as const, cell: ({ sums }: Group) => formatCount(sums.output) },
    { name: t('Spend'), look: 'number' as const, cell: ({ sums }: Group) => formatUsd(sums.cost) },
  ];
  return (
    <section class="card" aria-labelledby="groups">
      <header>
        <h2 id="groups">{t('Sums of the period')}</h2>
        <button type="button" class="quiet" onClick={() => saveCsv('usage.csv', csvRows([...groups, total], title))}>
          CSV
        </button>
      </header>
      <Table caption={t('Sums of the period')} columns={columns} rows={groups} id={({ name }) => name} total={total} />
    </section>
  );
}

function csvRows(groups: readonly Group[], title: string): string[][] {
  return [
    [title, 'requests', 'failures', 'input_tokens', 'cache_read_tokens', 'output_tokens', 'cost'],
    ...groups.map(({ name, sums }) => [
      name,
      ...[sums.requests, sums.failures, sums.input, sums.cached, sums.output].map(String),
      sums.cost.toFixed(9),
    ]),
  ];
}
