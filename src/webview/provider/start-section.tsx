import { t } from '../shared/words.ts';
import { useDialog } from './dialog-context.ts';

/** Fills the form from a known vendor or a server on this machine. */
export function StartSection() {
  const { state } = useDialog();
  const { presets, servers } = state;
  if (state.editing.value) return null;
  const known = presets.value.filter(({ local }) => !local);
  const local = presets.value.filter((preset) => preset.local);
  return (
    <section class="start">
      <div class="row wrap">
        <label for="preset">{t('Start from')}</label>
        <select
          id="preset"
          value={state.preset.value}
          onChange={(event) => {
            const preset = presets.value.find(({ id }) => id === event.currentTarget.value);
            if (preset) state.fillFrom(preset);
            else state.empty();
          }}
        >
          <option value="">{t('An empty form')}</option>
          <optgroup label={t('Vendors')}>
            {known.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </optgroup>
          <optgroup label={t('On this machine')}>
            {local.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </optgroup>
        </select>
        <button
          type="button"
          onClick={() => servers.value.busy || state.lookForServers()}
          aria-disabled={servers.value.busy}
        >
          <span
            class={`codicon ${servers.value.busy ? 'codicon-loading codicon-modifier-spin' : 'codicon-search'}`}
            aria-hidden="true"
          />
          {servers.value.busy ? t('Looking for local servers…') : t('Look for local servers')}
        </button>
      </div>
      <Servers />
    </section>
  );
}

function Servers() {
  const { state } = useDialog();
  const { found } = state.servers.value;
  if (!found) return null;
  if (found.length === 0) {
    return (
      <p class="hint" role="status">
        {t(
          'No model server answers on the usual ports of this machine. Start one, then look again, or enter its address.',
        )}{' '}
        {t('Programs that serve models:')} <a href="https://ollama.com/download">Ollama</a>,{' '}
        <a href="https://lmstudio.ai/download">LM Studio</a>,{' '}
        <a href="https://github.com/ggml-org/llama.cpp">llama.cpp</a>
      </p>
    );
  }
  return (
    <ul class="servers" role="status" aria-label={t('Servers found')}>
      {found.map((server) => (
        <li key={server.id}>
          <button type="button" class="server" onClick={() => state.fillFrom(server)}>
            <span class="codicon codicon-server-process" aria-hidden="true" />
            <span class="name">{server.name}</span>
            <span class="detail">{server.baseURL}</span>
            <span class="detail">{server.models === 1 ? t('1 model') : t('{0} models', server.models)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
