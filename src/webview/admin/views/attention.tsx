import type { ComponentChildren } from 'preact';
import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import type { Concern } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import type { View } from '../data/address.ts';
import { useAdmin } from '../data/admin-context.ts';
import { formatCount, formatPercent } from '../data/format.ts';
import { useAnswer } from '../data/use-answer.ts';
import { scopeText } from './budgets.tsx';
import { budgetText } from './limit-text.ts';

/** Problems that need a person. Nothing is shown if there are none. */
export function Attention() {
  const { value, error } = useAnswer(ENDPOINTS.listConcerns);
  if (error !== undefined) return <p class="notice bad">{error}</p>;
  if (value === undefined || value.data.length === 0) return null;
  return (
    <section class="card" aria-labelledby="attention">
      <h2 id="attention">{t('Needs attention')}</h2>
      <ul class="attention">
        {value.data.map((concern) => (
          <li key={JSON.stringify(concern)}>
            <ConcernText of={concern} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ConcernText({ of }: { of: Concern }) {
  const { clock } = useAdmin();
  const time = (at: string) => clock.value.minute(Date.parse(at));
  switch (of.kind) {
    case 'budget': {
      const { budget } = of;
      const share = budget.usd === 0 ? 1 : budget.spent / budget.usd;
      const what = `${scopeText(budget.scope)}, ${budgetText(budget)}`;
      const when = budget.runs_out_at === null ? '' : ` ${t('Runs out on {0}', time(budget.runs_out_at))}.`;
      return (
        <Line bad={share >= 1} view="budgets">
          {t('{0} of a budget is used: {1}.', formatPercent(share), what)}
          {when}
        </Line>
      );
    }
    case 'provider':
      return (
        <Line bad view="models">
          {of.until === null
            ? t('The provider {0} fails: {1}', of.id, of.problem)
            : t('The provider {0} gets no requests until {1}: {2}', of.id, time(of.until), of.problem)}
        </Line>
      );
    case 'ledger':
      return (
        <Line bad view="replicas">
          {t('{0} can’t write its ledger: {1} rows wait.', of.replica, formatCount(of.rows))}
        </Line>
      );
    case 'key':
      return <Line view="keys">{t('The key {0} expires on {1}.', of.name, time(of.expires_at))}</Line>;
  }
}

/** A line with a link to the view that tells more. */
function Line(props: { bad?: boolean; view: View; children: ComponentChildren }) {
  const { address } = useAdmin();
  return (
    <span class={`state ${props.bad ? 'failed' : 'cooling'}`}>
      {props.children}{' '}
      <a
        href={address.link(props.view)}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          address.go(props.view);
        }}
      >
        {t('Show')}
      </a>
    </span>
  );
}
