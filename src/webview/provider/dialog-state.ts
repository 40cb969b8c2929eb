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
  normalizeForm,
  type ProviderForm,
  proposedId,
} from '../../config/provider-form/provider-form.ts';
import type { HostLink } from './host-link.ts';

export type Listing =
  | { readonly kind: 'idle' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'done'; readonly models: readonly OfferedModel[]; readonly baseURL?: string }
  | { readonly kind: 'failed'; readonly reason: DialogFailure }
  | { readonly kind: 'stopped' };

export type TestState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'busy'; readonly model: string }
  | ({ readonly kind: 'done' } & Extract<ToDialog, { type: 'tested' }>);

/** Pause in typing after which the list of models is requested. */
const LIST_DELAY_MS = 450;

/** The state of the page. The host keeps a copy of the form, because closing the tab destroys the page. */
export class DialogState {
  readonly #link: HostLink;
  /** Until the user types an id, it is derived from the name. */
  #idTyped = false;
  /** Numbers of the latest requests: replies to earlier ones are ignored. */
  readonly #requests = { list: 0, test: 0 };
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly opened = signal<Extract<ToDialog, { type: 'open' }> | null>(null);
  readonly form = signal<ProviderForm>(EMPTY_FORM);
  /** Fields that lost the focus or were saved: only these show problems. The id shows them while it is typed. */
  readonly touched = signal<ReadonlySet<string>>(new Set());
  readonly listing = signal<Listing>({ kind: 'idle' });
  readonly testState = signal<TestState>({ kind: 'idle' });
  readonly servers = signal<{ readonly busy: boolean; readonly found?: readonly FoundServer[] }>({ busy: false });
  readonly failure = signal<DialogFailure | null>(null);
  readonly saving = signal(false);

  readonly targets = computed<readonly SaveTarget[]>(() => this.opened.value?.targets ?? []);
  readonly presets = computed<readonly ProviderPreset[]>(() => this.opened.value?.presets ?? []);
  readonly editing = computed(() => this.opened.value?.mode === 'edit');

  readonly problems = computed<readonly FieldProblem[]>(() =>
    formProblems(normalizeForCheck(this.form.value), {
      taken: this.opened.value?.taken ?? [],
      projectTargets: this.targets.value.flatMap(({ path, project }) => (project ? [path] : [])),
      keyOrigin: this.opened.value?.keyOrigin,
    }),
  );

  /** The model that a test uses: the first chosen one, otherwise the first that the provider lists. */
  readonly testModel = computed(() => {
    const chosen = this.form.value.models.find(({ id }) => id.trim() !== '')?.id.trim();
    if (chosen !== undefined) return chosen;
    return this.listing.value.kind === 'done' ? this.listing.value.models[0]?.id : undefined;
  });

  constructor(link: HostLink) {
    this.#link = link;
  }

  receive(message: ToDialog): void {
    switch (message.type) {
      case 'open':
        batch(() => {
          this.opened.value = message;
          this.form.value = message.form;
          this.#idTyped = message.form.id !== '';
        });
        if (isAddress(message.form.baseURL)) this.list();
        if (message.looksForServers) this.lookForServers();
        requestAnimationFrame(() => document.getElementById('name')?.focus());
        return;
      case 'listed':
        if (message.request !== this.#requests.list) return;
        this.listing.value = {
          kind: 'done',
          models: message.models,
          ...(message.baseURL ? { baseURL: message.baseURL } : {}),
        };
        return;
      case 'list-failed':
        if (message.request === this.#requests.list) this.listing.value = { kind: 'failed', reason: message.reason };
        return;
      case 'tested':
        if (message.request === this.#requests.test) this.testState.value = { kind: 'done', ...message };
        return;
      case 'servers':
        this.servers.value = { busy: false, found: message.servers };
        return;
      case 'not-saved':
        batch(() => {
          this.failure.value = message.reason;
          this.saving.value = false;
        });
        return;
    }
  }

  /** Changes the form. Requests the list of models again if a field changed that the list depends on. */
  change(fields: Partial<ProviderForm>): void {
    const before = this.form.value;
    const after = { ...before, ...fields };
    batch(() => {
      this.form.value = after;
      this.failure.value = null;
    });
    this.#link.post({ type: 'draft', form: after });
    const addressChanged = after.baseURL !== before.baseURL || after.api !== before.api;
    if (addressChanged || after.key !== before.key || after.headers !== before.headers) {
      this.#listSoon(addressChanged);
    }
  }

  changeName(name: string): void {
    const taken = this.opened.value?.taken ?? [];
    const derivesId = !this.#idTyped && !this.editing.value;
    this.change(derivesId ? { name, id: name === '' ? '' : freeId(proposedId(name), taken) } : { name });
  }

  changeId(id: string): void {
    this.#idTyped = id !== '';
    this.touch('id');
    this.change({ id });
  }

  touch(...fields: readonly string[]): void {
    this.touched.value = new Set([...this.touched.value, ...fields]);
  }

  fillFrom({ id, name, api, baseURL, fimURL, fim }: ProviderPreset): void {
    this.#idTyped = true;
    const taken = this.opened.value?.taken ?? [];
    this.change({ id: freeId(id, taken), name, api, baseURL, fimURL, fim });
  }

  /** @param addressChanged the list on display belongs to another address. */
  #listSoon(addressChanged: boolean): void {
    clearTimeout(this.#timer);
    this.testState.value = { kind: 'idle' };
    if (addressChanged) {
      this.#requests.list++;
      this.listing.value = { kind: 'idle' };
    }
    if (isAddress(this.form.value.baseURL.trim())) this.#timer = setTimeout(() => this.list(), LIST_DELAY_MS);
  }

  list(): void {
    clearTimeout(this.#timer);
    this.#requests.list++;
    // An existing list stays until the new one arrives: it must not flicker while the user types a key.
    if (this.listing.value.kind !== 'done') this.listing.value = { kind: 'busy' };
    this.#link.post({ type: 'list', request: this.#requests.list, form: this.form.value });
  }

  stop(): void {
    this.#requests.list++;
    this.#requests.test++;
    this.#link.post({ type: 'stop' });
    if (this.listing.value.kind === 'busy') this.listing.value = { kind: 'stopped' };
    this.testState.value = { kind: 'idle' };
  }

  test(): void {
    const model = this.testModel.value;
    if (model === undefined) return;
    this.#requests.test++;
    this.testState.value = { kind: 'busy', model };
    this.#link.post({ type: 'test', request: this.#requests.test, form: this.form.value, model });
  }

  lookForServers(): void {
    this.servers.value = { busy: true };
    this.#link.post({ type: 'look-for-servers' });
  }

  useFoundAddress(): void {
    if (this.listing.value.kind === 'done' && this.listing.value.baseURL) {
      this.change({ baseURL: this.listing.value.baseURL });
    }
  }

  /** Saves. If a field has a problem, shows it and focuses the field instead. */
  save(): void {
    const found = this.problems.value;
    this.touch(...found.map(({ field }) => field));
    const [first] = found;
    if (first) {
      // Wait until the field is rendered with its problem.
      requestAnimationFrame(() => document.getElementById(first.field)?.focus());
      return;
    }
    batch(() => {
      this.saving.value = true;
      this.failure.value = null;
    });
    this.#link.post({ type: 'save', form: this.form.value });
  }
}

/** Tidies the key only. Rows keep their indexes, because a problem refers to its field by index. */
function normalizeForCheck(value: ProviderForm): ProviderForm {
  return { ...value, key: normalizeForm(value).key };
}
