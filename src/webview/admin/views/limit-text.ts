import type { Budget, BudgetInput, RateInput } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { formatCount, formatUsd } from '../data/format.ts';

/** `$5.00 a month (hard, mistral/*)` */
export function budgetText({ usd, period, mode, model }: Omit<BudgetInput, 'time_zone'>): string {
  const notes = [...(mode === 'hard' ? [t('hard')] : []), ...(model === '*' ? [] : [model])];
  const amount = periodAmount(formatUsd(usd), period);
  return notes.length === 0 ? amount : `${amount} (${notes.join(', ')})`;
}

function periodAmount(amount: string, period: Budget['period']): string {
  switch (period) {
    case 'total':
      return t('{0} in all', amount);
    case 'day':
      return t('{0} a day', amount);
    case 'week':
      return t('{0} a week', amount);
    case 'month':
      return t('{0} a month', amount);
  }
}

export function periodTitle(period: Budget['period']): string {
  switch (period) {
    case 'total':
      return t('In all');
    case 'day':
      return t('A day');
    case 'week':
      return t('A week');
    case 'month':
      return t('A month');
  }
}

/** `60 requests and 100,000 tokens a minute, 4 at a time (mistral/*)` */
export function rateText({ requests, tokens, parallel, model }: RateInput): string {
  const parts = [
    ...(requests === undefined ? [] : [t('{0} requests a minute', formatCount(requests))]),
    ...(tokens === undefined ? [] : [t('{0} tokens a minute', formatCount(tokens))]),
    ...(parallel === undefined ? [] : [t('{0} at a time', formatCount(parallel))]),
  ].join(', ');
  return model === '*' ? parts : `${parts} (${model})`;
}
