import { useSignal } from '@preact/signals';
import type { ModelRow } from '../../config/provider-form/provider-form.ts';
import type { OfferedModel } from '../../protocol/provider-dialog.ts';
import { t } from '../shared/words.ts';
import { useDialog } from './dialog-context.ts';
import { type DialogState, focusSoon } from './dialog-state.ts';
import { Problem, Text } from './field.tsx';

export function ModelsSection() {
  const { state } = useDialog();
  const { form, limited, listing } = state;
  const { models } = form.value;
  const choice = (label: string, only: boolean) => (
    <label>
      <input
        type="radio"
        name="models"
        id={only ? 'models' : 'all-models'}
        checked={limited.value === only}
        onChange={() => state.limit(only)}
      />
      {label}
    </label>
  );
  return (
    <fieldset class="field">
      <legend>{t('Models')}</legend>
      <div class="choices">
        {choice(t('All models'), false)}
        {choice(models.length === 0 ? t('Only these') : t('Only these ({0})', models.length), true)}
      </div>
      <p class="hint">
        {limited.value
          ? t('Other models of the provider are not offered.')
          : t('Also those that the provider adds later. Select models to use only these.')}
      </p>
      <Problem field="models" />
      <ListState />
      {listing.value.kind === 'done' && listing.value.models.length > 0 ? (
        <Picker offered={listing.value.models} />
      ) : null}
      <Rows rows={models} />
    </fieldset>
  );
}

function ListState() {
  const { state } = useDialog();
  const listing = state.listing.value;
  switch (listing.kind) {
    case 'idle':
      return (
        <p class="hint" role="status">
          {state.needsKeyToList.value
            ? t('Enter the key to list the models.')
            : t('The list of models is fetched when the base URL is valid.')}
        </p>
      );
    case 'busy':
      return (
        <div class="row status" role="status">
          <span class="codicon codicon-loading codicon-modifier-spin" aria-hidden="true" />
          <span class="grow">{t('Fetching the list of models…')}</span>
          <button type="button" onClick={() => state.stop()}>
            {t('Cancel')}
          </button>
        </div>
      );
    case 'stopped':
      return <FetchAgain text={t('The list could not be fetched.')} />;
    case 'failed':
      return (
        <div class="reason" role="alert">
          <p>
            <span class="codicon codicon-error" aria-hidden="true" />
            {listing.reason.message}
          </p>
          {listing.reason.action ? <p>{listing.reason.action}</p> : null}
          <FetchAgain text={t('You can add models manually below.')} />
        </div>
      );
    case 'done':
      return (
        <>
          {listing.baseURL ? (
            <div class="row status note" role="status">
              <span class="codicon codicon-info" aria-hidden="true" />
              <span class="grow">
                {t(
                  'The list was found at {0}. Requests are sent there only if you use it as the base URL.',
                  listing.baseURL,
                )}
              </span>
              <button type="button" class="primary" onClick={() => state.useFoundAddress()}>
                {t('Use this address')}
              </button>
            </div>
          ) : null}
          {listing.models.length === 0 ? <FetchAgain text={t('The provider lists no models.')} /> : null}
        </>
      );
  }
}

function FetchAgain({ text }: { text: string }) {
  const { state } = useDialog();
  return (
    <div class="row status">
      <span class="grow">{text}</span>
      <button type="button" onClick={() => state.list()}>
        {t('Fetch again')}
      </button>
    </div>
  );
}

/** A search field, a checkbox for all matches, and a checkbox for each model. */
function Picker({ offered }: { offered: readonly OfferedModel[] }) {
  const { state } = useDialog();
  const search = useSignal('');
  const words = search.value.toLowerCase().split(/\s+/);
  const shown = offered.filter(({ id, name }) => words.every((word) => `${id} ${name}`.toLowerCase().includes(word)));
  const chosen = new Set(state.form.value.models.map(({ id }) => id.trim()));
  const all = shown.length > 0 && shown.every(({ id }) => chosen.has(id));
  return (
    <div class="picker">
      <div class="picker-head">
        <input
          id="model-search"
          type="search"
          value={search.value}
          placeholder={t('Search {0} models', offered.length)}
          aria-label={t('Search models')}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
        />
        <label class="check">
          <input
            type="checkbox"
            id="select-all"
            checked={all}
            aria-disabled={shown.length === 0}
            onChange={() => (all ? removeModels(state, shown) : addModels(state, shown))}
          />
          {search.value === '' ? t('Select all') : t('Select all {0} found', shown.length)}
        </label>
      </div>
      <ul aria-label={t('Models of the provider')}>
        {shown.slice(0, MAX_SHOWN).map((model) => (
          <li key={model.id}>
            <label class="check">
              <input
                type="checkbox"
                checked={chosen.has(model.id)}
                onChange={(event) =>
                  event.currentTarget.checked ? addModels(state, [model]) : removeModels(state, [model])
                }
              />
              <span class="name">{model.name || model.id}</span>
              {model.name ? <span class="detail">{model.id}</span> : null}
              {model.contextLength ? (
                <span class="detail">{t('{0}k context', Math.round(model.contextLength / 1000))}</span>
              ) : null}
            </label>
          </li>
        ))}
      </ul>
      {shown.length > MAX_SHOWN ? (
        <p class="hint">{t('{0} more: search to see them.', shown.length - MAX_SHOWN)}</p>
      ) : null}
      {shown.length === 0 ? <p class="hint">{t('No model found.')}</p> : null}
    </div>
  );
}

const MAX_SHOWN = 300;

function addModels(state: DialogState, models: readonly OfferedModel[]): void {
  const present = new Set(state.form.value.models.map(({ id }) => id.trim()));
  const fresh = models.filter(({ id }) => !present.has(id)).map(({ id, name }) => ({ id, name }));
  state.limited.value = true;
  state.change({ models: [...state.form.value.models.filter(({ id, name }) => id !== '' || name !== ''), ...fresh] });
}

function removeModels(state: DialogState, models: readonly OfferedModel[]): void {
  const removedIds = new Set(models.map(({ id }) => id));
  state.change({ models: state.form.value.models.filter(({ id }) => !removedIds.has(id.trim())) });
}

function Rows({ rows }: { rows: readonly ModelRow[] }) {
  const { state } = useDialog();
  const update = (index: number, row: Partial<ModelRow>) =>
    state.change({ models: rows.map((each, at) => (at === index ? { ...each, ...row } : each)) });
  const addRow = () => {
    state.limited.value = true;
    state.change({ models: [...rows, { id: '', name: '' }] });
    focusSoon(`models.${rows.length}.id`);
    return true;
  };
  const removeRow = (index: number) => {
    state.change({ models: rows.filter((_, at) => at !== index) });
    focusSoon(rows.length === 1 ? 'add-model' : `models.${Math.min(index, rows.length - 2)}.id`);
  };
  return (
    <>
      {rows.length > 0 ? (
        <fieldset class="rows" aria-label={t('Chosen models')}>
          {rows.map((row, index) => (
            <div class="pair" key={index}>
              <Text
                id={`models.${index}.id`}
                value={row.id}
                placeholder={t('Model ID')}
                label={t('ID of model {0}', index + 1)}
                onValue={(id) => update(index, { id })}
                onEnter={addRow}
              />
              <Text
                id={`models.${index}.name`}
                value={row.name}
                placeholder={t('Display name')}
                label={t('Name of model {0}', index + 1)}
                onValue={(name) => update(index, { name })}
                onEnter={addRow}
              />
              <button
                type="button"
                class="icon"
                aria-label={t('Remove model {0}', row.id || index + 1)}
                title={t('Remove')}
                onClick={() => removeRow(index)}
              >
                <span class="codicon codicon-close" aria-hidden="true" />
              </button>
              <Problem field={`models.${index}.id`} />
            </div>
          ))}
        </fieldset>
      ) : null}
      <button type="button" id="add-model" onClick={addRow}>
        <span class="codicon codicon-add" aria-hidden="true" />
        {t('Add a model manually')}
      </button>
    </>
  );
}
