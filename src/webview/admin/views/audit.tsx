import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import type { AuditEntry } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { useAnswer } from '../data/use-answer.ts';
import { AnswerView, Empty } from '../parts/answer-view.tsx';
import { DebouncedInput } from '../parts/debounced-input.tsx';
import { Pager } from '../parts/pager.tsx';
import { Table } from '../parts/table.tsx';

const FILTERS = ['who', 'action', 'target'] as const;

/** Changes with their author, time and address. */
export function Audit() {
  const { address, clock } = useAdmin();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, address.get(name)]));
  const audit = useAnswer(ENDPOINTS.listAudit, { query: { ...filters, cursor: address.get('cursor') } });
  const columns = [
    { name: t('Time'), cell: ({ at }: AuditEntry) => clock.value.second(Date.parse(at)) },
    { name: t('Who'), cell: ({ who }: AuditEntry) => who },
    { name: t('Action'), cell: ({ action }: AuditEntry) => <code>{action}</code> },
    { name: t('Target'), cell: ({ target }: AuditEntry) => target },
    { name: t('From'), cell: ({ source }: AuditEntry) => source },
    { name: t('Details'), look: 'text' as const, cell: ({ details }: AuditEntry) => detailText(details) },
  ];
  return (
    <>
      <div class="filters">
        {FILTERS.map((name) => (
          <DebouncedInput
            key={name}
            label={filterTitle(name)}
            value={address.get(name)}
            onValue={(value) => address.change({ [name]: value, cursor: undefined }, 'replace')}
          />
        ))}
      </div>
      <AnswerView answer={audit}>
        {({ data, next }) => (
          <>
            {data.length === 0 ? (
              <Empty title={t('No change matches.')} />
            ) : (
              <Table caption={t('Audit')} columns={columns} rows={data} id={({ id }) => String(id)} />
            )}
            <Pager next={next} />
          </>
        )}
      </AnswerView>
    </>
  );
}

function detailText(details: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(details).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text === '[]' ? [] : `${name}: ${text}`;
  });
  return parts.join(', ') || '–';
}

function filterTitle(name: (typeof FILTERS)[number]): string {
  switch (name) {
    case 'who':
      return t('Who');
    case 'action':
      return t('Action');
    case 'target':
      return t('Target');
  }
}
