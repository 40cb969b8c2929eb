import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import type { UsageAnswer, UsageRow } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { formatCount, formatMilliseconds, formatPercent, formatUsd } from '../data/format.ts';
import { saveFile } from '../parts/csv-file.ts';
import { Table } from '../parts/table.tsx';
import { useChange } from '../parts/use-change.ts';
import { labelOf } from './usage-series.ts';

interface GroupTableProps {
  readonly answer: UsageAnswer;
  readonly title: string;
}

/** The sums of each group, and of all. The CSV is that of `svc usage`. */
export function GroupTable({ answer, title }: GroupTableProps) {
  const { since, until, by, time_zone: tz, groups, group_count: count } = answer;
  const query = { since: since ?? undefined, until, by: by.join(), tz, reasons: 'true', format: 'csv' };
  const { api } = useAdmin();
  const saving = useChange();
  const save = async () => {
    const file = await api.open(ENDPOINTS.getUsage, { query });
    saveFile(`usage-${until.slice(0, 10)}.csv`, await file.blob());
  };
  const name = (row: UsageRow) => (row === answer.total ? t('Total') : labelOf(answer, row, t('(none)')));
  const number = (column: string, value: (row: UsageRow) => string) => ({
    name: column,
    look: 'number' as const,
    cell: value,
  });
  const columns = [
    { name: title, cell: name },
    number(t('Requests'), (row) => formatCount(row.requests)),
    number(t('Failures'), (row) => formatCount(row.failures)),
    number(t('Input tokens'), (row) => formatCount(row.input_tokens)),
    number(t('Cached'), (row) =>
      row.input_tokens === 0 ? '–' : formatPercent(row.cache_read_tokens / row.input_tokens),
    ),
    number(t('Output tokens'), (row) => formatCount(row.output_tokens)),
    number(t('First byte p95'), ({ first_byte_p95_ms: p95 }) => (p95 === null ? '–' : formatMilliseconds(p95))),
    number(t('Spend'), formatSpend),
  ];
  return (
    <section class="card" aria-labelledby="groups">
      <header>
        <h2 id="groups">{t('Sums of the period')}</h2>
        <button type="button" class="quiet" disabled={saving.busy} onClick={() => void saving.run(save)}>
          CSV
        </button>
      </header>
      {saving.problem === '' ? null : (
        <p class="problem" role="alert">
          {saving.problem}
        </p>
      )}
      {count > groups.length ? (
        <p class="hint">
          {t('The {0} most expensive of {1} are shown. The CSV has all.', groups.length, formatCount(count))}
        </p>
      ) : null}
      {answer.unpriced_models.length > 0 ? (
        <p class="hint">{t('The cost of models without a price is not known, and not in the total.')}</p>
      ) : null}
      <Table caption={t('Sums of the period')} columns={columns} rows={groups} id={name} total={answer.total} />
    </section>
  );
}

/** The cost of models without a price is not known. A group with such models has a lower bound, or no known spend. */
function formatSpend({ cost, unpriced_requests: unpriced = 0 }: UsageRow): string {
  if (unpriced === 0) return formatUsd(cost);
  return cost === 0 ? t('unknown') : `≥ ${formatUsd(cost)}`;
}
