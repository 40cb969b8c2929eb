import { TimeZone } from '../../../base/time-zone.ts';
import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import type { Budget, Organization, Session } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { Clock, formatCount, formatPercent, formatUsd } from '../data/format.ts';
import { useAnswer } from '../data/use-answer.ts';
import { AnswerView, Empty } from '../parts/answer-view.tsx';
import { Table } from '../parts/table.tsx';
import { budgetText, rateText } from './limit-text.ts';

/** Budgets with their remaining amounts, and the organizations. */
export function Budgets({ session }: { session: Session }) {
  const budgets = useAnswer(ENDPOINTS.listBudgets);
  return (
    <>
      <section aria-labelledby="budgets">
        <h2 id="budgets">{t('Budgets')}</h2>
        <AnswerView answer={budgets}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={t('There are no budgets.')}>
                {t('Set them for a key, or for the gateway, an organization or a user in svc.jsonc.')}
              </Empty>
            ) : (
              <BudgetTable budgets={data} />
            )
          }
        </AnswerView>
      </section>
      {session.scope === 'own' ? null : <Organizations />}
    </>
  );
}

function Organizations() {
  const organizations = useAnswer(ENDPOINTS.listOrganizations);
  return (
    <section aria-labelledby="organizations">
      <h2 id="organizations">{t('Organizations')}</h2>
      <AnswerView answer={organizations}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t('There are no organizations.')}>
              {t('Add them to gateway.organizations in svc.jsonc.')}
            </Empty>
          ) : (
            <OrganizationTable organizations={data} />
          )
        }
      </AnswerView>
    </section>
  );
}

function BudgetTable({ budgets }: { budgets: readonly Budget[] }) {
  const columns = [
    { name: t('Owner'), cell: ({ scope }: Budget) => scopeText(scope) },
    { name: t('Budget'), cell: (budget: Budget) => budgetText(budget) },
    { name: t('Used'), cell: (budget: Budget) => <Used of={budget} /> },
    { name: t('Spent'), look: 'number' as const, cell: ({ spent }: Budget) => formatUsd(spent) },
    { name: t('Left'), look: 'number' as const, cell: ({ usd, spent }: Budget) => formatUsd(Math.max(0, usd - spent)) },
    { name: t('Runs out'), cell: (budget: Budget) => <RunsOut of={budget} /> },
    {
      name: t('Starts again'),
      look: 'breakable' as const,
      // Midnight is that of the budget's own time zone.
      cell: ({ window_end, time_zone }: Budget) =>
        window_end === null
          ? t('Never')
          : `${new Clock(new TimeZone(time_zone)).minute(Date.parse(window_end))} (${time_zone})`,
    },
  ];
  return (
    <Table
      caption={t('Budgets')}
      columns={columns}
      rows={budgets}
      id={(budget) => JSON.stringify({ ...budget, spent: 0, runs_out_at: 0 })}
    />
  );
}

export function scopeText({ key, user, organization }: Budget['scope']): string {
  const parts = [
    ...(organization === null ? [] : [t('organization {0}', organization)]),
    ...(user === null ? [] : [t('user {0}', user)]),
    ...(key === null ? [] : [t('key {0}', key)]),
  ];
  return parts.length === 0 ? t('Whole gateway') : parts.join(', ');
}

function Used({ of: { usd, spent } }: { of: Budget }) {
  const share = usd === 0 ? 1 : spent / usd;
  return (
    <span class="used">
      <meter min={0} max={1} high={0.8} optimum={0} value={Math.min(1, share)} aria-label={t('Used')} />
      {formatPercent(share)}
    </span>
  );
}

function RunsOut({ of: { usd, spent, runs_out_at } }: { of: Budget }) {
  const { clock } = useAdmin();
  if (spent >= usd) return <strong class="state failed">{t('Used up')}</strong>;
  if (runs_out_at === null) return <>{t('Not in this period')}</>;
  return <span class="state cooling">{t('Runs out on {0}', clock.value.minute(Date.parse(runs_out_at)))}</span>;
}

function OrganizationTable({ organizations }: { organizations: readonly Organization[] }) {
  const columns = [
    {
      name: t('Organization'),
      cell: ({ id, name }: Organization) => (
        <>
          {name} <code>{id}</code>
        </>
      ),
    },
    { name: t('Keys'), look: 'number' as const, cell: ({ keys }: Organization) => formatCount(keys) },
    {
      name: t('Allowed models'),
      cell: ({ allow }: Organization) => (allow === null ? t('All') : allow.join(', ') || '–'),
    },
    { name: t('Refused models'), cell: ({ deny }: Organization) => deny.join(', ') || '–' },
    { name: t('Own credentials'), cell: ({ byok }: Organization) => byok.join(', ') || '–' },
    { name: t('Rates'), cell: ({ rates }: Organization) => rates.map(rateText).join('; ') || '–' },
  ];
  return <Table caption={t('Organizations')} columns={columns} rows={organizations} id={({ id }) => id} />;
}
