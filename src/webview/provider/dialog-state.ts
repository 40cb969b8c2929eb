import { batch, computed, signal } from '@preact/signals';
import type {
  DialogFailure,
  FoundServer,
  OfferedModel,
  ProviderPreset,
  SaveTarget,
  ToDialog,
} from '../../config/provider-form/provider-dialog.ts';
import {
  EMPTY_FORM,
  type FieldProblem,
  formProblems,
  freeId,
  isAddress,
  type ProviderForm,
  proposedId,
  tidied,
} from '../../config/provider-form/provider-form.ts';
import { post } from './host-link.ts';

/** What the page shows. The host keeps a copy of the form, because the page goes away with its tab. */
export const opened = signal<Extract<ToDialog, { type: 'open' }> | null>(null);
export const form = signal<ProviderForm>(EMPTY_FORM);
/** Fields that were left or saved once: only they complain. The id complains as it is typed. */
export const touched = signal<ReadonlySet<string>>(new Set());

export type Listing =
  | { readonly kind: 'idle' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'done'; readonly models: readonly OfferedModel[]; readonly baseURL?: string }
  | { readonly kind: 'failed'; readonly reason: DialogFailure }
  | { readonly kind: 'stopped' };
export const listing = signal<Listing>({ kind: 'idle' });

export type Trial =
  | { readonly kind: 'idle' }
  | { readonly kind: 'busy'; readonly model: string }
  | ({ readonly kind: 'done' } & Extract<ToDialog, { type: 'tested' }>);
export const trial = signal<Trial>({ kind: 'idle' });
export const servers = signal<{ readonly busy: boolean; readonly found?: readonly FoundServer[] }>({ busy: false });
export const failure = signal<DialogFailure | null>(null);
export const saving = signal(false);

export const targets = computed<readonly SaveTarget[]>(() => opened.value?.targets ?? []);
export const dialogPresets = computed<readonly ProviderPreset[]>(() => opened.value?.presets ?? []);
export const editing = computed(() => opened.value?.mode === 'edit');

/** An id that nobody typed follows the name. */
let idTyped = false;
const requests = { list: 0, test: 0 };
let timer: ReturnType<typeof setTimeout> | undefined;

export const problems = computed<readonly FieldProblem[]>(() =>
  formProblems(tidiedForCheck(form.value), {
    taken: opened.value?.taken ?? [],
    projectTargets: targets.value.flatMap(({ path, project }) => (project ? [path] : [])),
    keyOrigin: opened.value?.keyOrigin,
  }),
);

/** Rows keep their places, so that a problem finds its field. */
function tidiedForCheck(value: ProviderForm): ProviderForm {
  return { ...value, key: tidied(value).key };
}

export function receive(message: ToDialog): void {
  switch (message.type) {
    case 'open':
      batch(() => {
        opened.value = message;
        form.value = message.form;
        idTyped = message.form.id !== '';
      });
      if (isAddress(message.form.baseURL)) list();
      requestAnimationFrame(() => document.getElementById('name')?.focus());
      return;
    case 'listed':
      if (message.request !== requests.list) return;
      listing.value = {
        kind: 'done',
        models: message.models,
        ...(message.baseURL ? { baseURL: message.baseURL } : {}),
      };
      return;
    case 'list-failed':
      if (message.request === requests.list) listing.value = { kind: 'failed', reason: message.reason };
      return;
    case 'tested':
      if (message.request === requests.test) trial.value = { kind: 'done', ...message };
      return;
    case 'servers':
      servers.value = { busy: false, found: message.servers };
      return;
    case 'not-saved':
      batch(() => {
        failure.value = message.reason;
        saving.value = false;
      });
      return;
  }
}

/** Changes the form; what decides the provider's answer asks for its models anew. */
export function change(fields: Partial<ProviderForm>): void {
  const before = form.value;
  const after = { ...before, ...fields };
  batch(() => {
    form.value = after;
    failure.value = null;
  });
  post({ type: 'draft', form: after });
  const elsewhere = after.baseURL !== before.baseURL || after.api !== before.api;
  if (elsewhere || after.key !== before.key || after.headers !== before.headers) listSoon(elsewhere);
}

export function typeName(name: string): void {
  const taken = opened.value?.taken ?? [];
  change(idTyped || editing.value ? { name } : { name, id: name === '' ? '' : freeId(proposedId(name), taken) });
}

export function typeId(id: string): void {
  idTyped = id !== '';
  touch('id');
  change({ id });
}

export function touch(...fields: readonly string[]): void {
  touched.value = new Set([...touched.value, ...fields]);
}

export function fillFrom({ id, name, api, baseURL, fimURL, fim }: ProviderPreset): void {
  idTyped = true;
  const taken = opened.value?.taken ?? [];
  change({ id: freeId(id, taken), name, api, baseURL, fimURL, fim });
}

const QUIET_MS = 450;

/** @param elsewhere the list that is shown is of another address. */
function listSoon(elsewhere: boolean): void {
  clearTimeout(timer);
  trial.value = { kind: 'idle' };
  if (elsewhere) {
    requests.list++;
    listing.value = { kind: 'idle' };
  }
  if (isAddress(form.value.baseURL.trim())) timer = setTimeout(list, QUIET_MS);
}

export function list(): void {
  clearTimeout(timer);
  requests.list++;
  // A list that is there stays until the new one is: a key that is typed must not make it flicker.
  if (listing.value.kind !== 'done') listing.value = { kind: 'busy' };
  post({ type: 'list', request: requests.list, form: form.value });
}

export function stop(): void {
  requests.list++;
  requests.test++;
  post({ type: 'stop' });
  if (listing.value.kind === 'busy') listing.value = { kind: 'stopped' };
  trial.value = { kind: 'idle' };
}

/** The model that a test asks: the first chosen, else the first that the provider lists. */
export const testable = computed(() => {
  const chosen = form.value.models.find(({ id }) => id.trim() !== '')?.id.trim();
  if (chosen !== undefined) return chosen;
  return listing.value.kind === 'done' ? listing.value.models[0]?.id : undefined;
});

export function test(): void {
  const model = testable.value;
  if (model === undefined) return;
  requests.test++;
  trial.value = { kind: 'busy', model };
  post({ type: 'test', request: requests.test, form: form.value, model });
}

export function lookForServers(): void {
  servers.value = { busy: true };
  post({ type: 'look-for-servers' });
}

export function useFoundAddress(): void {
  if (listing.value.kind === 'done' && listing.value.baseURL) change({ baseURL: listing.value.baseURL });
}

/** Saves, or shows what is missing and goes there. */
export function save(): void {
  const found = problems.value;
  touch(...found.map(({ field }) => field));
  const [first] = found;
  if (first) {
    // After the field has drawn itself as wrong.
    requestAnimationFrame(() => document.getElementById(first.field)?.focus());
    return;
  }
  batch(() => {
    saving.value = true;
    failure.value = null;
  });
  post({ type: 'save', form: form.value });
}
