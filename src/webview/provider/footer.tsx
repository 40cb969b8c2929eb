import { t } from '../shared/words.ts';
import { useDialog } from './dialog-context.ts';

/** The target file, the result of a test, and the buttons. Always visible. */
export function Footer() {
  const { link, state } = useDialog();
  const { editing, failure, form, problems, saving, targets, testModel, touched, testState } = state;
  const busy = testState.value.kind === 'busy';
  const open = problems.value.filter(({ field }) => touched.value.has(field)).length;
  return (
    <footer>
      <TestStatus />
      {failure.value ? (
        <div class="reason" role="alert">
          <p>
            <span class="codicon codicon-error" aria-hidden="true" />
            {failure.value.message}
          </p>
          {failure.value.action ? <p>{failure.value.action}</p> : null}
          <button type="button" onClick={() => link.post({ type: 'open-file' })}>
            {t('Open the file')}
          </button>
        </div>
      ) : null}
      <div class="row wrap target">
        <label for="target">{t('Save for')}</label>
        <select
          id="target"
          class="grow"
          value={form.value.target}
          disabled={targets.value.length < 2}
          onChange={(event) => state.change({ target: event.currentTarget.value })}
        >
          {targets.value.map(({ path, label }) => (
            <option key={path} value={path}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <div class="row wrap actions">
        <button type="button" class="primary" id="save" onClick={() => state.save()} disabled={saving.value}>
          {t('Save')}
        </button>
        <button
          type="button"
          id="test"
          onClick={() => (busy ? state.stop() : state.test())}
          disabled={!busy && testModel.value === undefined}
        >
          {busy ? t('Stop') : t('Test')}
        </button>
        <button type="button" onClick={() => link.post({ type: 'close' })}>
          {t('Cancel')}
        </button>
        {open > 0 ? (
          <span class="hint" role="status">
            {open === 1 ? t('One field needs your attention.') : t('{0} fields need your attention.', open)}
          </span>
        ) : null}
        {editing.value ? (
          <button type="button" class="danger" id="delete" onClick={() => link.post({ type: 'delete' })}>
            <span class="codicon codicon-trash" aria-hidden="true" />
            {t('Delete')}
          </button>
        ) : null}
      </div>
    </footer>
  );
}

function TestStatus() {
  const testState = useDialog().state.testState.value;
  switch (testState.kind) {
    case 'idle':
      return null;
    case 'busy':
      return (
        <p class="trial" role="status">
          <span class="codicon codicon-loading codicon-modifier-spin" aria-hidden="true" />
          {t('Sending a test request to {0} …', testState.model)}
        </p>
      );
    case 'done': {
      const figures = [
        testState.status === undefined ? [] : [`HTTP ${testState.status}`],
        [`${testState.milliseconds} ms`],
      ].flat();
      if (!testState.ok) {
        return (
          <div class="reason" role="alert" id="trial">
            <p>
              <span class="codicon codicon-error" aria-hidden="true" />
              {figures.join(' · ')}
            </p>
            <p>{testState.reason?.message ?? ''}</p>
            {testState.reason?.action ? <p>{testState.reason.action}</p> : null}
          </div>
        );
      }
      return (
        <p class="trial ok" role="status" id="trial">
          <span class="codicon codicon-pass-filled" aria-hidden="true" />
          {t('It works: {0}', figures.join(' · '))}
          {testState.answer ? <span class="detail"> “{testState.answer}”</span> : null}
        </p>
      );
    }
  }
}
