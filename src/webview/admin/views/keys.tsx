import { useSignal } from '@preact/signals';
import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import { type IssuedKey, KEY_STATES, type Key, type Session } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { formatCount, formatUsd } from '../data/format.ts';
import { useAnswer } from '../data/use-answer.ts';
import { AnswerView, Empty } from '../parts/answer-view.tsx';
import { DebouncedInput } from '../parts/debounced-input.tsx';
import { Pager } from '../parts/pager.tsx';
import { Table } from '../parts/table.tsx';
import { CreateKey, KeyLimits, NewSecret, RevokeKey, RotateKey } from './key-dialogs.tsx';
import { budgetText, rateText } from './limit-text.ts';

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'change' | 'rotate' | 'revoke'; readonly key: Key }
  | { readonly kind: 'secret'; readonly issued: IssuedKey };

/** The keys of the gateway. Their secrets are shown once, when they are made. */
export function Keys({ session }: { session: Session }) {
  const { address, api } = useAdmin();
  const open = useSignal<Open | undefined>(undefined);
  const state = KEY_STATES.find((each) => each === address.get('state'));
  const query = { search: address.get('search'), state, cursor: address.get('cursor') };
  const keys = useAnswer(ENDPOINTS.listKeys, { query });
  const changes = session.scope === 'keys' || session.scope === 'all';
  const close = () => {
    open.value = undefined;
    api.revision.value += 1;
  };
  return (
    <>
      <div class="filters">
        <DebouncedInput
          label={t('Search')}
          value={query.search}
          onValue={(search) => address.change({ search, cursor: undefined }, 'replace')}
        />
        <label class="filter">
          <span>{t('State')}</span>
          <select
            value={state ?? ''}
            onChange={(event) => address.change({ state: event.currentTarget.value, cursor: undefined })}
          >
            <option value="">{t('All states')}</option>
            {KEY_STATES.map((each) => (
              <option key={each} value={each}>
                {stateTitle(each)}
              </option>
            ))}
          </select>
        </label>
        {changes ? (
          <button
            type="button"
            class="primary"
            onClick={() => {
              open.value = { kind: 'create' };
            }}
          >
            {t('Create Key…')}
          </button>
        ) : null}
      </div>
      <AnswerView answer={keys}>
        {({ data, next, total }) => (
          <>
            <p class="count" role="status">
              {total === 1 ? t('1 key') : t('{0} keys', formatCount(total))}
            </p>
            {data.length === 0 ? (
              <Empty title={t('No key matches.')} />
            ) : (
              <KeyTable keys={data} session={session} onOpen={(kind, key) => (open.value = { kind, key })} />
            )}
            <Pager next={next} />
          </>
        )}
      </AnswerView>
      <OpenDialog
        open={open.value}
        session={session}
        onClose={close}
        onIssued={(issued) => (open.value = { kind: 'secret', issued })}
      />
    </>
  );
}

interface OpenDialogProps {
  readonly open: Open | undefined;
  readonly session: Session;
  readonly onClose: () => void;
  readonly onIssued: (issued: IssuedKey) => void;
}

function OpenDialog({ open, session, onClose, onIssued }: OpenDialogProps) {
  switch (open?.kind) {
    case undefined:
      return null;
    case 'create':
      return <CreateKey session={session} onClose={onClose} onIssued={onIssued} />;
    case 'change':
      return <KeyLimits of={open.key} onClose={onClose} />;
    case 'rotate':
      return <RotateKey of={open.key} onClose={onClose} onIssued={onIssued} />;
    case 'revoke':
      return <RevokeKey of={open.key} onClose={onClose} />;
    case 'secret':
      return <NewSecret issued={open.issued} onClose={onClose} />;
  }
}

type Action = 'change' | 'rotate' | 'revoke';

interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly session: Session;
  readonly onOpen: (kind: Action, key: Key) => void;
}

function KeyTable({ keys, session, onOpen }: KeyTableProps) {
  const { clock } = useAdmin();
  const when = (time: string | null, never: string) => (time === null ? never : clock.value.minute(Date.parse(time)));
  const columns = [
    { name: t('Name'), look: 'breakable' as const, cell: (key: Key) => <KeyName of={key} /> },
    { name: t('State'), cell: ({ state }: Key) => <span class={`state ${state}`}>{stateTitle(state)}</span> },
    {
      name: t('Owner'),
      look: 'breakable' as const,
      cell: ({ user, organization }: Key) => [user, organization].filter(Boolean).join(' · ') || '–',
    },
    { name: t('Last used'), look: 'breakable' as const, cell: (key: Key) => when(key.last_used_at, t('Never')) },
    { name: t('Expires'), look: 'breakable' as const, cell: (key: Key) => when(key.expires_at, t('Never')) },
    { name: t('Limits'), look: 'breakable' as const, cell: (key: Key) => <Limits of={key} /> },
    { name: t('Spent in all'), look: 'number' as const, cell: ({ spent }: Key) => formatUsd(spent) },
    {
      name: t('Actions'),
      look: 'actions' as const,
      cell: (key: Key) => <Actions of={key} session={session} onOpen={onOpen} />,
    },
  ];
  return <Table caption={t('Keys')} columns={columns} rows={keys} id={({ name }) => name} cards />;
}

/** Leads to its requests. */
function KeyName({ of: { name, admin } }: { of: Key }) {
  const { address } = useAdmin();
  const changes = { key: name };
  return (
    <>
      <a
        href={address.link('requests', changes)}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          address.go('requests', changes);
        }}
      >
        {name}
      </a>
      {admin === null ? null : <span class="tag">{t('admin: {0}', admin)}</span>}
    </>
  );
}

function Limits({ of: { budgets, rates } }: { of: Key }) {
  if (budgets.length + rates.length === 0) return <>–</>;
  return (
    <ul class="plain">
      {budgets.map((budget) => (
        <li key={budgetText(budget)}>
          {t('{0} of {1}', formatUsd(budget.spent), budgetText(budget))}
          <meter
            min={0}
            max={Math.max(budget.usd, 0.000001)}
            high={budget.usd * 0.8}
            value={budget.spent}
            aria-label={t('Used')}
          />
        </li>
      ))}
      {rates.map((rate) => (
        <li key={rateText(rate)}>{rateText(rate)}</li>
      ))}
    </ul>
  );
}

function Actions({ of: key, session, onOpen }: { of: Key; session: Session; onOpen: KeyTableProps['onOpen'] }) {
  const allowed = session.scope === 'all' || (session.scope === 'keys' && key.admin === null);
  if (!allowed || key.state === 'revoked') return <>–</>;
  const button = (kind: Action, title: string) => (
    <button type="button" class="quiet" aria-label={`${title} ${key.name}`} onClick={() => onOpen(kind, key)}>
      {title}
    </button>
  );
  return (
    <span class="buttons">
      {button('change', t('Change…'))}
      {button('rotate', t('Rotate…'))}
      {button('revoke', t('Revoke…'))}
    </span>
  );
}

function stateTitle(state: Key['state']): string {
  switch (state) {
    case 'valid':
      return t('Valid');
    case 'rotating':
      return t('Two secrets valid');
    case 'expired':
      return t('Expired');
    case 'revoked':
      return t('Revoked');
  }
}
