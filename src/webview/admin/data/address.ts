import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';

export const VIEWS = ['overview', 'keys', 'requests', 'models', 'budgets', 'replicas', 'audit'] as const;
export type View = (typeof VIEWS)[number];

/** Changes of a query. `undefined` and an empty text remove a parameter. */
export type QueryChanges = Readonly<Record<string, string | undefined>>;

/** These stay when the user goes to another view. */
const SHARED = ['period', 'since', 'until', 'tz'];

/** The address of the page: the view is the path, and everything that filters is in the query. */
export class Address {
  readonly #url: Signal<URL>;
  readonly view: ReadonlySignal<View>;

  constructor() {
    this.#url = signal(new URL(location.href));
    this.view = computed(() => {
      const name = this.#url.value.pathname.split('/')[2];
      return VIEWS.find((view) => view === name) ?? 'overview';
    });
    window.addEventListener('popstate', () => {
      this.#url.value = new URL(location.href);
    });
  }

  /** The value of a parameter, or an empty text. */
  get(name: string): string {
    return this.#url.value.searchParams.get(name) ?? '';
  }

  /** The address of a view with the same period and time zone. */
  link(view: View, changes: QueryChanges = {}): string {
    const kept = SHARED.flatMap((name) => (this.get(name) === '' ? [] : [[name, this.get(name)]]));
    return `/admin/${view}${queryText(new URLSearchParams(kept), changes)}`;
  }

  go(view: View, changes: QueryChanges = {}): void {
    this.#show(this.link(view, changes), 'push');
  }

  /** Changes parameters of the current view. Typing replaces the entry of the browser's history. */
  change(changes: QueryChanges, entry: 'push' | 'replace' = 'push'): void {
    const { pathname, searchParams } = this.#url.value;
    this.#show(pathname + queryText(new URLSearchParams(searchParams), changes), entry);
  }

  #show(path: string, entry: 'push' | 'replace'): void {
    if (entry === 'push') history.pushState(null, '', path);
    else history.replaceState(null, '', path);
    this.#url.value = new URL(location.href);
  }
}

function queryText(query: URLSearchParams, changes: QueryChanges): string {
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
