import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import type { Session, UsageAnswer } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { bucketsOf } from '../data/period.ts';
import { useAnswer } from '../data/use-answer.ts';
import { AnswerView, Empty } from '../parts/answer-view.tsx';
import { Attention } from './attention.tsx';
import { GroupTable } from './group-table.tsx';
import { Numbers } from './numbers.tsx';
import { UsagePlots } from './usage-plots.tsx';
import { GROUPS_SHOWN } from './usage-series.ts';

const GROUPS = ['model', 'key', 'user', 'organization'] as const;
type GroupName = (typeof GROUPS)[number];

/** Sums and plots of the period, and problems that need a person. */
export function Overview({ session }: { session: Session }) {
  const admin = useAdmin();
  const { address } = admin;
  const period = admin.period.value;
  const by = GROUPS.find((each) => each === address.get('by')) ?? 'model';
  const query = {
    since: new Date(period.since).toISOString(),
    until: new Date(period.until).toISOString(),
    tz: admin.clock.value.zone.name,
    step: period.step,
    by,
    top: GROUPS_SHOWN,
    compare: 'previous',
  };
  const usage = useAnswer(ENDPOINTS.getUsage, { query });
  return (
    <>
      <Attention />
      <AnswerView answer={usage}>
        {(answer) => (
          <>
            <Numbers answer={answer} />
            <GroupChoice by={by} own={session.scope === 'own'} />
            {answer.total.requests === 0 ? (
              <Empty title={t('No requests in this period.')}>
                {t('Choose a longer period, or send a request to this gateway.')}
              </Empty>
            ) : (
              <Details answer={answer} by={by} />
            )}
          </>
        )}
      </AnswerView>
    </>
  );
}

function GroupChoice({ by, own }: { by: GroupName; own: boolean }) {
  const { address } = useAdmin();
  const groups = own ? GROUPS.filter((name) => name === 'model' || name === 'user') : GROUPS;
  return (
    <fieldset class="choice">
      <legend>{t('Spend by')}</legend>
      {groups.map((name) => (
        <label key={name}>
          <input type="radio" name="by" checked={name === by} onChange={() => address.change({ by: name })} />
          <span>{groupTitle(name)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function groupTitle(name: GroupName): string {
  switch (name) {
    case 'model':
      return t('Model');
    case 'key':
      return t('Key');
    case 'user':
      return t('User');
    case 'organization':
      return t('Organization');
  }
}

function Details({ answer, by }: { answer: UsageAnswer; by: GroupName }) {
  const admin = useAdmin();
  const cursor = useSignal<number | undefined>(undefined);
  const zone = admin.clock.value.zone;
  // The answer's own period: while another one is loaded, the plots show the old one.
  const buckets = useMemo(() => {
    const since = answer.since === null ? admin.period.value.since : Date.parse(answer.since);
    const step = answer.step === 'quarter' || answer.step === 'hour' ? answer.step : 'day';
    return bucketsOf({ since, until: Date.parse(answer.until), step }, zone);
  }, [answer, zone]);
  return (
    <>
      <UsagePlots answer={answer} buckets={buckets} cursor={cursor} />
      <GroupTable answer={answer} title={groupTitle(by)} />
    </>
  );
}
