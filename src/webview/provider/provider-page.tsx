import { render } from 'preact';
import { PROVIDER_APIS } from '../../config/provider-form/provider-form.ts';
import type { FromDialog, ToDialog } from '../../protocol/provider-dialog.ts';
import { EDIT_DIALECTS } from '../../wire/edit/edit-request.ts';
import { FIM_DIALECTS } from '../../wire/fim/fim-request.ts';
import { guardFocus } from '../shared/focus-guard.ts';
import { connectToHost } from '../shared/host-link.ts';
import { t } from '../shared/words.ts';
import { type Dialog, DialogContext, useDialog } from './dialog-context.ts';
import { DialogState } from './dialog-state.ts';
import { Field, Text } from './field.tsx';
import { Footer } from './footer.tsx';
import { HeadersSection } from './headers-section.tsx';
import { KeySection } from './key-section.tsx';
import { ModelsSection } from './models-section.tsx';
import { StartSection } from './start-section.tsx';

const API_NAMES = {
  'chat-completions': 'OpenAI Compatible (Chat Completions)',
  responses: 'OpenAI (Responses)',
  messages: 'Anthropic (Messages)',
} as const;

function Page({ dialog }: { dialog: Dialog }) {
  const { state } = dialog;
  if (!state.opened.value) return null;
  const { id, name, api, baseURL } = state.form.value;
  return (
    <DialogContext.Provider value={dialog}>
      <main>
        <h1>{state.editing.value ? t('Edit {0}', name || id) : t('Add Custom Provider')}</h1>
        <p class="lead">{t('Its models can then be chosen for chat and for completions.')}</p>
        <StartSection />
        <Field id="name" label={t('Display name')}>
          <Text id="name" value={name} onValue={(value) => state.changeName(value)} placeholder={t('My provider')} />
        </Field>
        <Field
          id="id"
          label={t('Provider ID')}
          hint={t('Part of its model names: {0}', `${id || 'my-provider'}/model`)}
        >
          <Text id="id" value={id} onValue={(value) => state.changeId(value)} placeholder="my-provider" />
        </Field>
        <Field id="api" label={t('Provider API')}>
          <select
            id="api"
            value={api}
            onChange={(event) => {
              const chosen = PROVIDER_APIS.find((each) => each === event.currentTarget.value);
              if (chosen) state.change({ api: chosen });
            }}
          >
            {PROVIDER_APIS.map((each) => (
              <option key={each} value={each}>
                {API_NAMES[each]}
              </option>
            ))}
          </select>
        </Field>
        <Field id="baseURL" label={t('Base URL')}>
          <Text
            id="baseURL"
            value={baseURL}
            placeholder="https://api.example.com/v1"
            onValue={(value) => state.change({ baseURL: value })}
            onEnter={() => state.useFoundAddress()}
            onLeave={() => state.addressEntered()}
          />
        </Field>
        <KeySection />
        <ModelsSection />
        <HeadersSection />
        <Completion />
      </main>
      <Footer />
    </DialogContext.Provider>
  );
}

/** Address and formats for code completion and next edits. Most providers do not need them. */
function Completion() {
  const { state } = useDialog();
  const { fimURL, fim, edit } = state.form.value;
  return (
    <details class="more" open={fimURL !== '' || fim !== '' || edit !== ''}>
      <summary>{t('Code completion and next edits')}</summary>
      <Field
        id="fimURL"
        label={t('Completion URL')}
        optional
        hint={t('“/completions” is appended. Leave it empty to use the provider’s known address.')}
      >
        <Text id="fimURL" value={fimURL} onValue={(value) => state.change({ fimURL: value })} />
      </Field>
      <Field id="fim" label={t('Format of completions')} optional>
        <Formats id="fim" value={fim} formats={FIM_DIALECTS} onValue={(value) => state.change({ fim: value })} />
      </Field>
      <Field
        id="edit"
        label={t('Format of next edits')}
        optional
        hint={t('For models that predict edits. With “chat-patch”, chat models answer when you ask for an edit.')}
      >
        <Formats id="edit" value={edit} formats={EDIT_DIALECTS} onValue={(value) => state.change({ edit: value })} />
      </Field>
    </details>
  );
}

interface FormatsProps {
  readonly id: string;
  readonly value: string;
  readonly formats: readonly string[];
  readonly onValue: (value: string) => void;
}

function Formats({ id, value, formats, onValue }: FormatsProps) {
  return (
    <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      <option value="">{t('Detect automatically')}</option>
      {formats.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

/** The first control of the closest section that remains. */
guardFocus((path) => {
  const control = ':is(input, select, textarea, button, summary):not(:disabled)';
  const section = path.find((each) => each.isConnected && each.querySelector(control) !== null);
  return section?.querySelector<HTMLElement>(control);
});
const link = connectToHost<FromDialog, ToDialog>();
const state = new DialogState(link);
link.listen((message) => state.receive(message));
/** Enter saves from every field that does nothing else with it, as in the forms of web pages. */
document.addEventListener('keydown', (event) => {
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
  if (event.key !== 'Enter' || !plain || event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
  if (!(event.target instanceof HTMLInputElement) || !/^(?:text|password)$/.test(event.target.type)) return;
  event.preventDefault();
  if (!state.saving.value) state.save();
});
document.addEventListener('keydown', (event) => {
  const command = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (!command || event.isComposing || (event.key !== 'Enter' && event.key.toLowerCase() !== 's')) return;
  event.preventDefault();
  event.stopPropagation();
  state.save();
});
render(<Page dialog={{ link, state }} />, document.body);
link.post({ type: 'ready' });
