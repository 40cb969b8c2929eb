import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import type { Replica } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { formatCount, formatRate } from '../data/format.ts';
import { useAnswer } from '../data/use-answer.ts';
import { AnswerView } from '../parts/answer-view.tsx';
import { Table } from '../parts/table.tsx';

/** Milliseconds without a heartbeat after which a process may have ended. There is one each second. */
const SILENT_MS = 10_000;

function ReplicaState({ of: { draining, self, seen_at } }: { of: Replica }) {
  if (!self && Date.now() - Date.parse(seen_at) > SILENT_MS) return <span class="state failed">{t('Silent')}</span>;
  return draining ? (
    <span class="state rotating">{t('Draining')}</span>
  ) : (
    <span class="state complete">{t('Serving')}</span>
  );
}

/** The processes of the gateway. Different configurations and versions show here. */
export function Replicas() {
  const { clock } = useAdmin();
  const replicas = useAnswer(ENDPOINTS.listReplicas);
  const columns = [
    {
      name: t('Process'),
      look: 'breakable' as const,
      cell: ({ host, pid, self }: Replica) => (
        <>
          {`${host}\u00a0·\u00a0${pid}`}
          {self ? <span class="tag">{t('answers this page')}</span> : null}
        </>
      ),
    },
    { name: t('Address'), look: 'breakable' as const, cell: ({ address }: Replica) => address ?? '–' },
    { name: t('State'), cell: (replica: Replica) => <ReplicaState of={replica} /> },
    { name: t('Version'), cell: ({ version }: Replica) => version },
    { name: t('Configuration'), cell: ({ config_hash }: Replica) => <code>{config_hash.slice(0, 12)}</code> },
    {
      name: t('Started'),
      look: 'breakable' as const,
      cell: ({ started_at }: Replica) => clock.value.minute(Date.parse(started_at)),
    },
    {
      name: t('Seen'),
      look: 'breakable' as const,
      cell: ({ seen_at }: Replica) => clock.value.second(Date.parse(seen_at)),
    },
    {
      name: t('Requests'),
      look: 'number' as const,
      cell: ({ active_requests }: Replica) => formatCount(active_requests),
    },
    {
      name: t('Ledger'),
      look: 'breakable' as const,
      cell: ({ ledger, ledger_rows_waiting }: Replica) =>
        ledger === 'ok' ? (
          <span class="state complete">{t('Written, {0} rows wait', formatCount(ledger_rows_waiting))}</span>
        ) : (
          <span class="state failed">{t('Not written, {0} rows wait', formatCount(ledger_rows_waiting))}</span>
        ),
    },
    {
      name: t('Memory'),
      look: 'number' as const,
      cell: ({ memory_bytes }: Replica) => `${formatRate(memory_bytes / 2 ** 20)} MB`,
    },
  ];
  return (
    <AnswerView answer={replicas}>
      {({ data }) => (
        <>
          {new Set(data.map(({ config_hash }) => config_hash)).size > 1 ? (
            <p class="notice warn">{t('The processes have different configurations.')}</p>
          ) : null}
          {new Set(data.map(({ version }) => version)).size > 1 ? (
            <p class="notice warn">{t('The processes have different versions.')}</p>
          ) : null}
          <Table caption={t('Replicas')} columns={columns} rows={data} id={({ id }) => id} cards />
        </>
      )}
    </AnswerView>
  );
}
