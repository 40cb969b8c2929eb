import { isOpenToEavesdroppers } from '../../config/provider-form/provider-form.ts';
import { t } from '../shared/words.ts';
import { useDialog } from './dialog-context.ts';
import { type DialogState, focusSoon } from './dialog-state.ts';
import { Problem, Text } from './field.tsx';

/** The key: in the system's key store, or the name of an environment variable. Never written into the file. */
export function KeySection() {
  const { state } = useDialog();
  const { key, baseURL } = state.form.value;
  const variable = key.kind === 'env';
  const vendor = state.vendor.value;
  const required = state.keyRequiredBy.value !== undefined;
  return (
    <fieldset class="field">
      <legend>
        {t('API key')}
        <span class="optional"> {required ? t('required') : t('optional')}</span>
      </legend>
      <div class="choices">
        <label>
          <input
            type="radio"
            name="key-place"
            checked={!variable}
            onChange={() => state.change({ key: { kind: 'none' } })}
          />
          {t('System key store')}
        </label>
        <label>
          <input
            type="radio"
            name="key-place"
            checked={variable}
            onChange={() => state.change({ key: { kind: 'env', name: '' } })}
          />
          {t('Environment variable')}
        </label>
      </div>
      {key.kind === 'env' ? (
        <Text
          id="key"
          value={key.name}
          placeholder="MISTRAL_API_KEY"
          label={t('Name of the environment variable')}
          onValue={(name) => state.change({ key: { kind: 'env', name } })}
        />
      ) : (
        <StoredKey />
      )}
      <Problem field="key" />
      {vendor?.keysURL ? (
        <p class="hint">
          <a href={vendor.keysURL}>{t('Get a key from {0}', vendor.name)}</a>
        </p>
      ) : null}
      {vendor?.environment && key.kind === 'none' ? (
        <p class="hint">{t('If it is empty, the environment variable {0} is used.', vendor.environment)}</p>
      ) : null}
      <p class="hint" id="key-hint">
        {variable
          ? t('Stored as a reference. The variable must be set when VS Code starts.')
          : t(
              'Stored by the operating system and sent only to this address. Leave it empty if a header contains the key.',
            )}
      </p>
      {key.kind !== 'none' && isOpenToEavesdroppers(baseURL.trim()) ? (
        <p class="warning" role="status">
          <span class="codicon codicon-warning" aria-hidden="true" />
          {t('This address is not encrypted: others in the network can read the key.')}
        </p>
      ) : null}
    </fieldset>
  );
}

function StoredKey() {
  const { state } = useDialog();
  const { key } = state.form.value;
  if (key.kind === 'kept') {
    return (
      <div class="row">
        <input id="key" type="password" value="••••••••" readOnly aria-label={t('API key, stored')} />
        <button type="button" onClick={() => replaceKey(state)}>
          {t('Replace')}
        </button>
        <button type="button" onClick={() => removeKey(state)}>
          {t('Remove')}
        </button>
      </div>
    );
  }
  return (
    <Text
      id="key"
      secret
      value={key.kind === 'typed' ? key.value : ''}
      label={t('API key')}
      onValue={(value) => state.change({ key: { kind: 'typed', value } })}
      onFocus={() => state.keyFocused()}
      onLeave={() => state.keyEntered()}
    />
  );
}

function replaceKey(state: DialogState): void {
  state.change({ key: { kind: 'typed', value: '' } });
  focusSoon('key');
}

function removeKey(state: DialogState): void {
  state.change({ key: { kind: 'none' } });
  focusSoon('key');
}
