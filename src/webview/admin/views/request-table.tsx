import { OUTCOMES, type Request } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { formatCount, formatFineUsd, formatMilliseconds } from '../data/format.ts';
import { Table } from '../parts/table.tsx';

/** One line for each request. The time opens its details. */
export function RequestTable({ requests }: { requests: readonly Request[] }) {
  const { address, clock } = useAdmin();
  const number = (value: number | null) => (value === null ? '–' : formatCount(value));
  const columns = [
    {
      name: t('Time'),
      cell: ({ id, at }: Request) => (
        <button type="button" class="link" onClick={() => address.change({ request: id })}>
          {clock.value.second(Date.parse(at))}
        </button>
      ),
    },
    { name: t('Outcome'), cell: (request: Request) => <Outcome of={request} /> },
    { name: t('Model'), cell: ({ model }: Request) => model ?? '–' },
    { name: t('Key'), cell: ({ key }: Request) => key },
    { name: t('Owner'), cell: ({ user, organization }: Request) => ownerText(user, organization) },
    { name: t('Attempts'), look: 'number' as const, cell: ({ attempts }: Request) => formatCount(attempts) },
    { name: t('Input'), look: 'number' as const, cell: ({ tokens }: Request) => number(tokens.input) },
    { name: t('Cached'), look: 'number' as const, cell: ({ tokens }: Request) => number(tokens.cache_read) },
    { name: t('Output'), look: 'number' as const, cell: ({ tokens }: Request) => number(tokens.output) },
    {
      name: t('First byte'),
      look: 'number' as const,
      cell: ({ first_byte_ms }: Request) => (first_byte_ms === null ? '–' : formatMilliseconds(first_byte_ms)),
    },
    {
      name: t('Duration'),
      look: 'number' as const,
      cell: ({ duration_ms }: Request) => formatMilliseconds(duration_ms),
    },
    {
      name: t('Cost'),
      look: 'number' as const,
      cell: ({ cost }: Request) => (cost === null ? '–' : formatFineUsd(cost)),
    },
  ];
  return <Table caption={t('Requests')} columns={columns} rows={requests} id={({ id }) => id} />;
}

const ownerText = (user: string | null, organization: string | null) =>
  [user, organization].filter((name) => name !== null).join(' · ') || '–';

export function Outcome({ of }: { of: Pick<Request, 'outcome' | 'status' | 'error_type'> }) {
  const reason = of.error_type ?? (of.status === null || of.status < 400 ? undefined : String(of.status));
  return (
    <span class={`state ${of.outcome}`}>
      {outcomeTitle(of.outcome)}
      {reason === undefined ? null : <code>{reason}</code>}
    </span>
  );
}

export function outcomeTitle(outcome: string): string {
  switch (OUTCOMES.find((each) => each === outcome)) {
    case 'complete':
      return t('Complete');
    case 'client-gone':
      return t('Client left');
    case 'failed':
      return t('Failed');
    case 'refused':
      return t('Refused');
    case undefined:
      return outcome;
  }
}
