import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import { OUTCOMES, type Session } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { useAnswer } from '../data/use-answer.ts';
import { AnswerView, Empty } from '../parts/answer-view.tsx';
import { DebouncedInput } from '../parts/debounced-input.tsx';
import { Pager } from '../parts/pager.tsx';
import { LiveView } from './live-view.tsx';
import { RequestDetails } from './request-details.tsx';
import { outcomeTitle, RequestTable } from './request-table.tsx';

const FILTERS = ['key', 'user', 'organization', 'model', 'provider'] as const;
/** The key of the caller is given. */
const OWN_FILTERS = ['user', 'model', 'provider'] as const;
const OUTCOME_FILTERS = [...OUTCOMES, 'failures'] as const;

/** Requests as they end, or those of the period. The filters and the open request are in the address. */
export function Requests({ session }: { session: Session }) {
  const { address } = useAdmin();
  const live = address.get('show') === 'live';
  const open = address.get('request');
  const filters = session.scope === 'own' ? OWN_FILTERS : FILTERS;
  const outcome = OUTCOME_FILTERS.find((each) => each === address.get('outcome'));
  const query = { ...Object.fromEntries(filters.map((name) => [name, address.get(name)])), outcome };
  return (
    <>
      <div class="filters">
        <ShowChoice live={live} />
        {filters.map((name) => (
          <DebouncedInput
            key={name}
            label={filterTitle(name)}
            value={address.get(name)}
            onValue={(value) => address.change({ [name]: value, cursor: undefined }, 'replace')}
          />
        ))}
        <label class="filter">
          <span>{t('Outcome')}</span>
          <select
            value={outcome ?? ''}
            onChange={(event) => address.change({ outcome: event.currentTarget.value, cursor: undefined })}
          >
            <option value="">{t('All outcomes')}</option>
            {OUTCOME_FILTERS.map((each) => (
              <option key={each} value={each}>
                {each === 'failures' ? t('Failed or refused') : outcomeTitle(each)}
              </option>
            ))}
          </select>
        </label>
      </div>
      {live ? <LiveView key={JSON.stringify(query)} query={query} /> : <History query={query} />}
      {open === '' ? null : <RequestDetails id={open} onClose={() => address.change({ request: undefined })} />}
    </>
  );
}

function ShowChoice({ live }: { live: boolean }) {
  const { address } = useAdmin();
  const choice = (name: 'history' | 'live', title: string) => (
    <label>
      <input
        type="radio"
        name="show"
        checked={live === (name === 'live')}
        onChange={() => address.change({ show: name === 'live' ? name : undefined, cursor: undefined })}
      />
      <span>{title}</span>
    </label>
  );
  return (
    <fieldset class="choice">
      <legend class="visually-hidden">{t('Show')}</legend>
      {choice('history', t('History'))}
      {choice('live', t('Live'))}
    </fieldset>
  );
}

function History({ query }: { query: Readonly<Record<string, string | undefined>> }) {
  const { address, period } = useAdmin();
  const { since, until } = period.value;
  const range = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
  const requests = useAnswer(ENDPOINTS.listRequests, { query: { ...query, ...range, cursor: address.get('cursor') } });
  return (
    <AnswerView answer={requests}>
      {({ data, next }) => (
        <>
          {data.length === 0 ? (
            <Empty title={t('No request matches.')}>{t('Choose a longer period or fewer filters.')}</Empty>
          ) : (
            <RequestTable requests={data} />
          )}
          <Pager next={next} />
        </>
      )}
    </AnswerView>
  );
}

function filterTitle(name: (typeof FILTERS)[number]): string {
  switch (name) {
    case 'key':
      return t('Key');
    case 'user':
      return t('User');
    case 'organization':
      return t('Organization');
    case 'model':
      return t('Model');
    case 'provider':
      return t('Provider');
  }
}
