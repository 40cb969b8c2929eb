import type { UsageAnswer } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { formatCount, formatMilliseconds, formatPercent, formatUsd } from '../data/format.ts';

/** Four numbers with their change against the period before. */
export function Numbers({ answer }: { answer: UsageAnswer }) {
  const { total, previous } = answer;
  const unpriced = answer.unpriced_models.length > 0;
  return (
    <dl class="numbers">
      {unpriced && total.cost === 0 ? (
        <Figure name={t('Spend')} value={t('unknown')} now={undefined} before={undefined} />
      ) : (
        <Figure
          name={t('Spend')}
          value={formatUsd(total.cost)}
          now={total.cost}
          before={previous?.cost}
          detail={unpriced ? t('without models that have no price') : undefined}
        />
      )}
      <Figure
        name={t('Requests')}
        value={formatCount(total.requests)}
        now={total.requests}
        before={previous?.requests}
      />
      <Figure
        name={t('Failures')}
        value={formatCount(total.failures)}
        now={total.failures}
        before={previous?.failures}
        detail={
          total.requests === 0 ? undefined : t('{0} of all requests', formatPercent(total.failures / total.requests))
        }
        worse
      />
      <Figure
        name={t('First byte p95')}
        value={total.first_byte_p95_ms === null ? '–' : formatMilliseconds(total.first_byte_p95_ms)}
        now={total.first_byte_p95_ms ?? undefined}
        before={previous?.first_byte_p95_ms ?? undefined}
        worse
      />
    </dl>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly now: number | undefined;
  readonly before: number | undefined;
  readonly detail?: string | undefined;
  /** More is worse. */
  readonly worse?: boolean;
}

function Figure({ name, value, now, before, detail, worse = false }: FigureProps) {
  const change = now === undefined || before === undefined || before === 0 ? undefined : now / before - 1;
  const bad = worse && change !== undefined && change > 0.005;
  return (
    <div class="figure card">
      <dt>{name}</dt>
      <dd>
        <span class="value">{value}</span>
        {detail === undefined ? null : <span class="detail">{detail}</span>}
        <span class={`change${bad ? ' bad' : ''}`}>{describeChange(change, now, before)}</span>
      </dd>
    </div>
  );
}

function describeChange(change: number | undefined, now: number | undefined, before: number | undefined): string {
  if (change === undefined) return before === 0 && now !== 0 ? t('None in the period before') : ' ';
  if (Math.abs(change) < 0.0005) return t('As in the period before');
  const size = formatPercent(Math.abs(change));
  return change > 0 ? t('{0} more than before', `▲ ${size}`) : t('{0} less than before', `▼ ${size}`);
}
