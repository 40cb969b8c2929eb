import { type HeaderRow, isSecretHeader } from '../../config/provider-form/provider-form.ts';
import { t } from '../shared/words.ts';
import { useDialog } from './dialog-context.ts';
import { focusSoon } from './dialog-state.ts';
import { Problem, Text } from './field.tsx';

export function HeadersSection() {
  const { state } = useDialog();
  const rows = state.form.value.headers;
  const update = (index: number, row: Partial<HeaderRow>) =>
    state.change({ headers: rows.map((each, at) => (at === index ? { ...each, ...row } : each)) });
  const addRow = () => {
    state.change({ headers: [...rows, { name: '', value: '' }] });
    focusSoon(`headers.${rows.length}.name`);
  };
  const removeRow = (index: number) => {
    state.change({ headers: rows.filter((_, at) => at !== index) });
    focusSoon(rows.length === 1 ? 'add-header' : `headers.${Math.min(index, rows.length - 2)}.name`);
  };
  return (
    <fieldset class="field">
      <legend>
        {t('Headers')}
        <span class="optional"> {t('optional')}</span>
      </legend>
      {rows.map((row, index) => (
        <div class="pair" key={index}>
          <Text
            id={`headers.${index}.name`}
            value={row.name}
            placeholder={t('Header')}
            label={t('Name of header {0}', index + 1)}
            onValue={(name) => update(index, row.kept ? { name, kept: false } : { name })}
          />
          <Text
            id={`headers.${index}.value`}
            secret={isSecretHeader(row.name) && !row.value.startsWith('{env:')}
            value={row.value}
            placeholder={row.kept ? '••••••••' : t('Value, or {env:NAME}')}
            label={t('Value of header {0}', index + 1)}
            onValue={(value) => update(index, { value, kept: false })}
          />
          <button
            type="button"
            class="icon"
            aria-label={t('Remove header {0}', row.name || index + 1)}
            title={t('Remove')}
            onClick={() => removeRow(index)}
          >
            <span class="codicon codicon-close" aria-hidden="true" />
          </button>
          <Problem field={`headers.${index}.name`} />
          <Problem field={`headers.${index}.value`} />
        </div>
      ))}
      {rows.some(
        ({ name, value, kept }) => isSecretHeader(name) && !kept && value !== '' && !value.startsWith('{env:'),
      ) ? (
        <p class="hint">
          {t('A header is written to svc.jsonc unchanged. Use {env:NAME} to keep a secret out of the file.')}
        </p>
      ) : null}
      <button type="button" id="add-header" onClick={addRow}>
        <span class="codicon codicon-add" aria-hidden="true" />
        {t('Add a header')}
      </button>
    </fieldset>
  );
}
