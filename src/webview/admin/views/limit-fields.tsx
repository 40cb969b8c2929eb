import type { Signal } from '@preact/signals';
import { BUDGET_PERIODS, type Budget, type Key } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { periodTitle } from './limit-text.ts';

/** Texts of the inputs. */
export interface BudgetDraft {
  readonly usd: string;
  readonly period: Budget['period'];
  readonly hard: boolean;
  readonly model: string;
  /** Empty: the time zone in sight. */
  readonly timeZone: string;
}
export interface RateDraft {
  readonly requests: string;
  readonly tokens: string;
  readonly parallel: string;
  readonly model: string;
}
export interface LimitDraft {
  readonly budgets: readonly BudgetDraft[];
  readonly rates: readonly RateDraft[];
}

export const emptyLimits = (): LimitDraft => ({ budgets: [], rates: [] });

export function limitsOf({ budgets, rates }: Key): LimitDraft {
  const text = (value: number | undefined) => (value === undefined ? '' : String(value));
  return {
    budgets: budgets.map(({ usd, period, mode, model, time_zone }) => ({
      usd: String(usd),
      period,
      hard: mode === 'hard',
      model,
      timeZone: time_zone,
    })),
    rates: rates.map(({ requests, tokens, parallel, model }) => ({
      requests: text(requests),
      tokens: text(tokens),
      parallel: text(parallel),
      model,
    })),
  };
}

/** The limits as the API takes them. */
export function readLimits({ budgets, rates }: LimitDraft, zone: string) {
  const number = (text: string) => (text === '' ? undefined : Number(text));
  return {
    budgets: budgets.map(({ usd, period, hard, model, timeZone }) => ({
      usd: Number(usd),
      period,
      mode: hard ? 'hard' : 'soft',
      model: model.trim() || '*',
      time_zone: timeZone || zone,
    })),
    rates: rates.map(({ requests, tokens, parallel, model }) => ({
      requests: number(requests),
      tokens: number(tokens),
      parallel: number(parallel),
      model: model.trim() || '*',
    })),
  };
}

/** Budgets and rates of a key. */
export function LimitFields({ draft }: { draft: Signal<LimitDraft> }) {
  const { budgets, rates } = draft.value;
  const set = (change: Partial<LimitDraft>) => {
    draft.value = { ...draft.value, ...change };
  };
  return (
    <>
      <fieldset>
        <legend>{t('Budgets')}</legend>
        {budgets.map((budget, index) => (
          <BudgetFields
            key={index}
            value={budget}
            onValue={(value) => set({ budgets: budgets.with(index, value) })}
            onRemove={() => set({ budgets: budgets.toSpliced(index, 1) })}
          />
        ))}
        <button
          type="button"
          class="quiet"
          onClick={() =>
            set({ budgets: [...budgets, { usd: '', period: 'month', hard: false, model: '*', timeZone: '' }] })
          }
        >
          {t('Add Budget')}
        </button>
      </fieldset>
      <fieldset>
        <legend>{t('Rates')}</legend>
        {rates.map((rate, index) => (
          <RateFields
            key={index}
            value={rate}
            onValue={(value) => set({ rates: rates.with(index, value) })}
            onRemove={() => set({ rates: rates.toSpliced(index, 1) })}
          />
        ))}
        <button
          type="button"
          class="quiet"
          onClick={() => set({ rates: [...rates, { requests: '', tokens: '', parallel: '', model: '*' }] })}
        >
          {t('Add Rate')}
        </button>
      </fieldset>
    </>
  );
}

interface RowProps<Draft> {
  readonly value: Draft;
  readonly onValue: (value: Draft) => void;
  readonly onRemove: () => void;
}

function BudgetFields({ value, onValue, onRemove }: RowProps<BudgetDraft>) {
  return (
    <div class="limit-row">
      <label class="field">
        <span>USD</span>
        <input
          type="number"
          required
          min="0"
          max="1000000"
          step="any"
          value={value.usd}
          onInput={(event) => onValue({ ...value, usd: event.currentTarget.value })}
        />
      </label>
      <label class="field">
        <span>{t('Period')}</span>
        <select
          value={value.period}
          onChange={(event) => {
            const period = BUDGET_PERIODS.find((each) => each === event.currentTarget.value);
            if (period) onValue({ ...value, period });
          }}
        >
          {BUDGET_PERIODS.map((period) => (
            <option key={period} value={period}>
              {periodTitle(period)}
            </option>
          ))}
        </select>
      </label>
      <ModelField value={value.model} onValue={(model) => onValue({ ...value, model })} />
      <label class="check">
        <input
          type="checkbox"
          checked={value.hard}
          onChange={(event) => onValue({ ...value, hard: event.currentTarget.checked })}
        />
        <span>{t('Never exceed it (hard)')}</span>
      </label>
      <RemoveButton name={t('Remove budget')} onRemove={onRemove} />
    </div>
  );
}

function RateFields({ value, onValue, onRemove }: RowProps<RateDraft>) {
  const number = (name: 'requests' | 'tokens' | 'parallel', label: string) => (
    <label class="field">
      <span>{label}</span>
      <input
        type="number"
        min="1"
        step="1"
        value={value[name]}
        onInput={(event) => onValue({ ...value, [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <div class="limit-row">
      {number('requests', t('Requests a minute'))}
      {number('tokens', t('Tokens a minute'))}
      {number('parallel', t('At a time'))}
      <ModelField value={value.model} onValue={(model) => onValue({ ...value, model })} />
      <RemoveButton name={t('Remove rate')} onRemove={onRemove} />
    </div>
  );
}

function ModelField({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  return (
    <label class="field">
      <span>{t('Models')}</span>
      <input
        value={value}
        placeholder="*"
        title={t('A model, a provider such as mistral/*, or * for all')}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </label>
  );
}

function RemoveButton({ name, onRemove }: { name: string; onRemove: () => void }) {
  return (
    <button type="button" class="quiet" aria-label={name} title={name} onClick={onRemove}>
      ✕
    </button>
  );
}
