import { batch, computed, signal } from '@preact/signals';
import {
  EMPTY_FORM,
  type FieldProblem,
  formProblems,
  freeId,
  hasKey,
  isAddress,
  keyRequiredBy,
  type ModelRow,
  normalizeForm,
  type ProviderForm,
  proposedId,
  vendorOf,
} from '../../config/provider-form/provider-form.ts';
import type {
  DialogFailure,
  FoundServer,
  FromDialog,
  OfferedModel,
  ProviderPreset,
  SaveTarget,
  TestedModel,
  ToDialog,
} from '../../protocol/provider-dialog.ts';
import type { HostLink } from '../shared/host-link.ts';

export type Listing =
  | { readonly kind: 'idle' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'done'; readonly models: readonly OfferedModel[]; readonly baseURL?: string }
  | { readonly kind: 'failed'; readonly reason: DialogFailure }
  | { readonly kind: 'stopped' };

export type TestResult = Extract<ToDialog, { type: 'tested' }>;

export interface TestState {
  readonly busy: boolean;
  /** The models that are asked; empty until the host has chosen them. */
  readonly tests: readonly TestedModel[];
  readonly results: readonly TestResult[];
}

const NO_TEST: TestState = { busy: false, tests: [], results: [] };

/** Pause in typing after which the list of models is requested. */
const LIST_DELAY_MS = 450;
/** The same while the host or the port may go on. The list is requested sooner if the user leaves the field. */
const HOST_DELAY_MS = 3000;
/** An address without a path: also one that ends where the port begins. */
const HOST_ONLY = /^[a-z]+:\/\/[^/]*$/i;

/** The state of the page. The host keeps a copy of the form, because closing the tab destroys the page. */
export class DialogState {
  readonly #link: HostLink<FromDialog, ToDialog>;
  /** Until the user types an id, it is derived from the name. */
  #idTyped = false;
  /** The failure of a list that was requested while the user types a key. */
  #held: DialogFailure | undefined;
  #typingKey = false;
  /** The chosen models, while all are used. */
  #chosen: readonly ModelRow[] = [];
  /** Numbers of the latest requests: replies to earlier ones are ignored. */
  readonly #requests = { list: 0, test: 0 };
  /** Until the list is requested. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly opened = signal<Extract<ToDialog, { type: 'open' }> | null>(null);
  readonly form = signal<ProviderForm>(EMPTY_FORM);
  /** Fields that lost the focus or were saved: only these show problems. The id shows them while it is typed. */
  readonly touched = signal<ReadonlySet<string>>(new Set());
  readonly listing = signal<Listing>({ kind: 'idle' });
  readonly testState = signal<TestState>(NO_TEST);
  /** True if only the chosen models are used, not all that the provider lists. */
  readonly limited = signal(false);
  readonly servers = signal<{ readonly busy: boolean; readonly found?: readonly FoundServer[] }>({ busy: false });
  /** Id of the vendor or server that filled the form; empty: none. */
  readonly preset = signal('');
  readonly failure = signal<DialogFailure | null>(null);
  readonly saving = signal(false);

  readonly targets = computed<readonly SaveTarget[]>(() => this.opened.value?.targets ?? []);
  readonly presets = computed<readonly ProviderPreset[]>(() => this.opened.value?.presets ?? []);
  readonly editing = computed(() => this.opened.value?.mode === 'edit');

  /** The known vendor of the address. */
  readonly vendor = computed(() => vendorOf(this.form.value.baseURL, this.presets.value));
  /** Name of the vendor that requires a key. */
  readonly keyRequiredBy = computed(() => keyRequiredBy(this.form.value, this.presets.value));
  /** True if the list of models would be refused for lack of a key. */
  readonly needsKeyToList = computed(() => this.keyRequiredBy.value !== undefined && !hasKey(this.form.value));

  readonly problems = computed<readonly FieldProblem[]>(() =>
    formProblems(normalizeForCheck(this.form.value), {
      taken: this.opened.value?.taken ?? [],
      projectTargets: this.targets.value.flatMap(({ path, project }) => (project ? [path] : [])),
      keyOrigin: this.opened.value?.keyOrigin,
      keyRequiredBy: this.keyRequiredBy.value,
      limited: this.limited.value,
    }),
  );

  /** True if there is a model that can be tested: a chosen one or one that the provider lists. */
  readonly testable = computed(
    () =>
      this.form.value.models.some(({ id }) => id.trim() !== '') ||
      (this.listing.value.kind === 'done' && this.listing.value.models.length > 0),
  );

  constructor(link: HostLink<FromDialog, ToDialog>) {
    this.#link = link;
  }

  receive(message: ToDialog): void {
    switch (message.type) {
      case 'open':
        batch(() => {
          this.opened.value = message;
          this.form.value = message.form;
          this.#idTyped = !isDerivedId(message.form, message.presets);
          this.limited.value = message.form.models.length > 0;
        });
        if (isAddress(message.form.baseURL) && !this.needsKeyToList.value) this.list();
        focusSoon(this.needsKeyToList.value ? 'key' : 'name');
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
        if (message.request !== this.#requests.list) return;
        if (this.#typingKey) this.#hold(message.reason);
        else this.listing.value = { kind: 'failed', reason: message.reason };
        return;
      case 'testing':
        if (message.request === this.#requests.test) this.#tested({ tests: message.tests });
        return;
      case 'tested':
        if (message.request === this.#requests.test) {
          this.#tested({ results: [...this.testState.value.results, message] });
          const { fim } = this.testOf(message) ?? {};
          if (message.ok && fim !== undefined) this.change({ fim });
        }
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
      const typed = Math.abs(after.baseURL.length - before.baseURL.length) === 1;
      const incomplete = typed && (HOST_ONLY.test(after.baseURL.trim()) || hostOf(before) !== hostOf(after));
      this.#listSoon(addressChanged, incomplete ? HOST_DELAY_MS : LIST_DELAY_MS);
    }
  }

  /** The user left the field of the address: it is complete. */
  addressEntered(): void {
    if (this.#timer !== undefined) this.#listSoon(false);
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

  testOf({ use = 'chat' }: TestResult): TestedModel | undefined {
    return this.testState.value.tests.find((each) => each.use === use);
  }

  #tested(news: Partial<TestState>): void {
    const state = { ...this.testState.value, ...news };
    this.testState.value = { ...state, busy: state.results.length < state.tests.length };
  }

  /** A key that is not complete is refused: that is not worth a message before the user has left the field. */
  #hold(reason: DialogFailure): void {
    this.#held = reason;
    this.listing.value = { kind: 'idle' };
  }

  keyFocused(): void {
    this.#typingKey = true;
  }

  /** The user left the field of the key, or pressed Enter: the key is complete. */
  keyEntered(): void {
    this.#typingKey = false;
    if (this.#held !== undefined) this.listing.value = { kind: 'failed', reason: this.#held };
    else if (this.listing.value.kind === 'idle' && isAddress(this.form.value.baseURL.trim())) this.#listSoon(false);
    this.#held = undefined;
  }

  /** Uses all models of the provider, or only chosen ones. The choice is kept when the user changes to and fro. */
  limit(limited: boolean): void {
    if (limited === this.limited.value) return;
    this.limited.value = limited;
    if (!limited) this.#chosen = this.form.value.models;
    this.change({ models: limited ? this.#chosen : [] });
  }

  touch(...fields: readonly string[]): void {
    this.touched.value = new Set([...this.touched.value, ...fields]);
  }

  fillFrom({ id, name, api, baseURL, fimURL, fim }: ProviderPreset): void {
    this.#idTyped = false;
    this.preset.value = id;
    const taken = this.opened.value?.taken ?? [];
    this.change({ ...this.#emptyForm(), id: freeId(id, taken), name, api, baseURL, fimURL, fim });
    focusSoon(this.needsKeyToList.value ? 'key' : 'name');
  }

  empty(): void {
    this.#idTyped = false;
    this.preset.value = '';
    this.change(this.#emptyForm());
    focusSoon('name');
  }

  /** Nothing of another vendor remains, least of all its key. */
  #emptyForm(): ProviderForm {
    this.touched.value = new Set();
    this.limited.value = false;
    this.#chosen = [];
    return { ...EMPTY_FORM, target: this.form.value.target };
  }

  /** @param addressChanged the list on display belongs to another address. */
  #listSoon(addressChanged: boolean, delay = LIST_DELAY_MS): void {
    this.#forgetTimer();
    this.testState.value = NO_TEST;
    this.#held = undefined;
    if (addressChanged || this.needsKeyToList.value) {
      this.#requests.list++;
      this.listing.value = { kind: 'idle' };
    }
    if (this.needsKeyToList.value) return;
    if (isAddress(this.form.value.baseURL.trim())) this.#timer = setTimeout(() => this.list(), delay);
  }

  #forgetTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  list(): void {
    this.#forgetTimer();
    this.#held = undefined;
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
    this.testState.value = NO_TEST;
  }

  test(): void {
    if (!this.testable.value) return;
    this.#requests.test++;
    this.testState.value = { ...NO_TEST, busy: true };
    this.#link.post({ type: 'test', request: this.#requests.test, form: this.form.value });
  }

  lookForServers(): void {
    this.servers.value = { busy: true };
    this.#link.post({ type: 'look-for-servers' });
  }

  /** Uses the address at which the list of models was found. @returns whether it is another one. */
  useFoundAddress(): boolean {
    const found = this.listing.value.kind === 'done' ? this.listing.value.baseURL : undefined;
    if (found) this.change({ baseURL: found });
    return found !== undefined;
  }

  /** Saves. If a field has a problem, shows it and focuses the field instead. */
  save(): void {
    const found = this.problems.value;
    this.touch(...found.map(({ field }) => field));
    const [first] = found;
    if (first) {
      // Wait until the field is rendered with its problem.
      focusSoon(first.field);
      return;
    }
    batch(() => {
      this.saving.value = true;
      this.failure.value = null;
    });
    this.#link.post({ type: 'save', form: this.form.value });
  }
}

/** Whether the id follows from the name or the vendor, so that it changes with the name. */
function isDerivedId({ id, name }: ProviderForm, presets: readonly ProviderPreset[]): boolean {
  const base = id.replace(/-\d+$/, '');
  return id === '' || base === proposedId(name) || presets.some((preset) => preset.id === base);
}

/** Focuses an element that is about to be rendered, before any key can arrive. Preact renders in a microtask. */
export function focusSoon(id: string): void {
  queueMicrotask(() => document.getElementById(id)?.focus());
}

const hostOf = ({ baseURL }: ProviderForm) => (URL.canParse(baseURL) ? new URL(baseURL).host : '');

/** Tidies the key only. Rows keep their indexes, because a problem refers to its field by index. */
function normalizeForCheck(value: ProviderForm): ProviderForm {
  return { ...value, key: normalizeForm(value).key };
}
