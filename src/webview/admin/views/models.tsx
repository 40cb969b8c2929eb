import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import type { Health, Model, Provider } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { formatCount, formatFineUsd, formatMilliseconds } from '../data/format.ts';
import { useAnswer } from '../data/use-answer.ts';
import { AnswerView, Empty } from '../parts/answer-view.tsx';
import { DebouncedInput } from '../parts/debounced-input.tsx';
import { Table } from '../parts/table.tsx';

/** Providers and models with their health and prices. */
export function Models() {
  const { address } = useAdmin();
  const providers = useAnswer(ENDPOINTS.listProviders);
  const models = useAnswer(ENDPOINTS.listModels);
  const search = address.get('search').toLowerCase();
  return (
    <>
      <section aria-labelledby="providers">
        <h2 id="providers">{t('Providers')}</h2>
        <AnswerView answer={providers}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={t('No provider is configured.')}>{t('Add one to svc.jsonc.')}</Empty>
            ) : (
              <ProviderTable providers={data} />
            )
          }
        </AnswerView>
      </section>
      <section aria-labelledby="models">
        <h2 id="models">{t('Models')}</h2>
        <div class="filters">
          <DebouncedInput
            label={t('Search')}
            value={address.get('search')}
            onValue={(value) => address.change({ search: value }, 'replace')}
          />
        </div>
        <AnswerView answer={models}>
          {({ data }) => {
            const found = data.filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(search));
            return found.length === 0 ? <Empty title={t('No model matches.')} /> : <ModelTable models={found} />;
          }}
        </AnswerView>
      </section>
    </>
  );
}

function ProviderTable({ providers }: { providers: readonly Provider[] }) {
  const columns = [
    {
      name: t('Provider'),
      cell: ({ id, name }: Provider) => (
        <>
          {name} <code>{id}</code>
        </>
      ),
    },
    {
      name: t('Health'),
      cell: ({ health, problem }: Provider) =>
        problem === null ? <HealthText of={health} /> : <span class="state failed">{problem}</span>,
    },
    { name: t('Models'), look: 'number' as const, cell: ({ models }: Provider) => formatCount(models) },
    { name: t('Running'), look: 'number' as const, cell: ({ health }: Provider) => formatCount(health.in_flight) },
    { name: t('First byte'), look: 'number' as const, cell: ({ health }: Provider) => firstByte(health) },
    { name: t('Formats'), cell: ({ formats }: Provider) => formats.join(', ') },
  ];
  return <Table caption={t('Providers')} columns={columns} rows={providers} id={({ id }) => id} />;
}

function ModelTable({ models }: { models: readonly Model[] }) {
  const price = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : formatFineUsd(value);
  const columns = [
    { name: t('Model'), cell: (model: Model) => <ModelName of={model} /> },
    { name: t('Health'), cell: ({ health }: Model) => <HealthText of={health} /> },
    { name: t('Running'), look: 'number' as const, cell: ({ health }: Model) => formatCount(health.in_flight) },
    { name: t('First byte'), look: 'number' as const, cell: ({ health }: Model) => firstByte(health) },
    {
      name: t('Input, USD per million'),
      look: 'number' as const,
      cell: (model: Model) => (model.price === null ? t('No price is known.') : price(model.price.input)),
    },
    { name: t('Cached'), look: 'number' as const, cell: (model: Model) => price(model.price?.cache_read) },
    { name: t('Output, USD per million'), look: 'number' as const, cell: (model: Model) => price(model.price?.output) },
    {
      name: t('Context'),
      look: 'number' as const,
      cell: ({ context }: Model) => (context === 0 ? '–' : formatCount(context)),
    },
  ];
  return <Table caption={t('Models')} columns={columns} rows={models} id={({ id }) => id} />;
}

function ModelName({ of: { id, pool } }: { of: Model }) {
  if (pool === null) return <>{id}</>;
  return (
    <>
      {id}
      <span class="tag">{t('pool, {0}', pool.strategy)}</span>
      <ul class="plain members">
        {pool.members.map(({ model, weight, health }) => (
          <li key={model}>
            {model} × {weight} <HealthText of={health} />
          </li>
        ))}
      </ul>
    </>
  );
}

const firstByte = ({ first_byte_ms }: Health) => (first_byte_ms === null ? '–' : formatMilliseconds(first_byte_ms));

function HealthText({ of }: { of: Health }) {
  const { clock } = useAdmin();
  const error = of.last_error === null ? null : <span class="detail">{of.last_error}</span>;
  switch (of.state) {
    case 'ok':
      return <span class="state complete">{t('Healthy')}</span>;
    case 'unknown':
      return <span class="state">{t('No request yet')}</span>;
    case 'failing':
      return (
        <span class="state failed">
          {t('Failing')}
          {error}
        </span>
      );
    case 'cooling': {
      const until = of.cooling_until === null ? '' : clock.value.timeWithSeconds(Date.parse(of.cooling_until));
      return (
        <span class="state cooling">
          {t('No requests until {0}', until)}
          {error}
        </span>
      );
    }
  }
}
