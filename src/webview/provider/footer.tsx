import { t } from '../shared/words.ts';
import { useDialog } from './dialog-context.ts';
import type { TestResult } from './dialog-state.ts';

/** The target file, the result of a test, and the buttons. Always visible. */
export function Footer() {
  const { link, state } = useDialog();
  const { editing, failure, form, opened, problems, saving, targets, testable, touched, testState } = state;
  const { busy } = testState.value;
  const canTest = busy || testable.value;
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
          aria-describedby="target-hint"
          onChange={(event) => state.change({ target: event.currentTarget.value })}
        >
          {targets.value.map(({ path, label }) => (
            <option key={path} value={path}>
              {label}
            </option>
          ))}
        </select>
        {targets.value.length < 2 ? (
          <span class="hint" id="target-hint">
            {editing.value
              ? t('It stays in its file.')
              : opened.value?.restricted
                ? t('Trust this workspace to save for a project.')
                : t('Open a folder to save for a project.')}
          </span>
        ) : null}
      </div>
      <div class="row wrap actions">
        <button
          type="button"
          class="primary"
          id="save"
          onClick={() => saving.value || state.save()}
          aria-disabled={saving.value}
        >
          {saving.value ? t('Saving…') : t('Save')}
        </button>
        <button
          type="button"
          id="test"
          onClick={() => (busy ? state.stop() : state.test())}
          aria-disabled={!canTest}
          aria-describedby={canTest ? undefined : 'test-hint'}
        >
          {busy ? t('Stop') : t('Test')}
        </button>
        <button type="button" onClick={() => link.post({ type: 'close' })}>
          {t('Cancel')}
        </button>
        {canTest ? null : (
          <span class="hint" id="test-hint">
            {state.needsKeyToList.value
              ? t('To test, enter the key.')
              : t('To test, enter an address that lists models, or add a model.')}
          </span>
        )}
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
  const { state } = useDialog();
  const { busy, tests, results } = state.testState.value;
  if (!busy && results.length === 0 && tests.length === 0) return null;
  const waiting = tests.filter(({ use }) => !results.some((result) => (result.use ?? 'chat') === use));
  // A format that was only tried and does not work is no failure.
  const told = results.filter((result) => result.ok || state.testOf(result)?.fim === undefined);
  const completes = tests.some(({ use, fim }) => use === 'completion' && (fim === undefined || busy));
  return (
    <div id="trial" role="status">
      {told.map((result) => (
        <Result key={result.use} result={result} model={state.testOf(result)?.model} />
      ))}
      {busy ? (
        <p class="trial">
          <span class="codicon codicon-loading codicon-modifier-spin" aria-hidden="true" />
          {waiting.length === 0
            ? t('Sending a test request…')
            : t('Asking {0}…', waiting.map(({ model }) => model).join(', '))}
        </p>
      ) : null}
      {tests.length > 0 && !completes && !told.some(({ use }) => use === 'completion') ? (
        <p class="hint">
          {t('No model of this provider is known to complete code.')}{' '}
          <button type="button" class="link" onClick={chooseFormat}>
            {t('Choose its format')}
          </button>
        </p>
      ) : null}
    </div>
  );
}

/** Unfolds the section of completions. */
function chooseFormat(): void {
  const field = document.getElementById('fim');
  const section = field?.closest('details');
  if (section) section.open = true;
  field?.focus();
}

/** The result for one model: the test, the model, and its first words. */
function Result({ result, model }: { result: TestResult; model: string | undefined }) {
  const { ok, status, milliseconds, answer, reason } = result;
  const figures = [...(status === undefined ? [] : [`HTTP ${status}`]), `${milliseconds} ms`].join(' · ');
  const asked = model === undefined ? figures : `${model} · ${figures}`;
  const completes = result.use === 'completion';
  if (ok) {
    return (
      <p class="trial ok">
        <span class="codicon codicon-pass-filled" aria-hidden="true" />
        {completes ? t('Completions work: {0}', asked) : t('Chat works: {0}', asked)}
        {answer ? <span class="detail"> “{answer}”</span> : null}
      </p>
    );
  }
  return (
    <div class="reason" role="alert">
      <p>
        <span class="codicon codicon-error" aria-hidden="true" />
        {completes ? t('Completions failed: {0}', asked) : t('Chat failed: {0}', asked)}
      </p>
      <p>{reason?.message ?? ''}</p>
      {reason?.action ? <p>{reason.action}</p> : null}
    </div>
  );
}
