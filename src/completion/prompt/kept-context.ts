import { enclosingFunction } from '../context/code-names.ts';
import { type Clock, delay } from '../document/clock.ts';
import type { CompletionSettings } from '../document/completion-settings.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import { type ContextSource, chooseSnippets, type Snippet } from './context.ts';

/** How long a request waits for context. */
const WAIT_MS = 30;
/** A source that takes longer is given up. */
const TIMEOUT_MS = 4_000;
/** While the user types, context is looked for at most so often. */
const PAUSE_MS = 1_000;
const DOCUMENTS = 16;

export interface ContextOptions {
  readonly wanted: CompletionSettings['context'];
  readonly excluded: (path: string) => boolean;
  /** Characters. */
  readonly room: number;
}

interface Kept {
  /** Number of the gathering. */
  readonly number: number;
  readonly wanted: CompletionSettings['context'];
  /** The function around the caret, for which the snippets were chosen. */
  readonly scope: string;
  readonly candidates: readonly Snippet[];
  chosen: readonly Snippet[];
  room: number;
}

interface Gathering {
  /** Settles when something is known, or the source has ended. */
  readonly first: Promise<void>;
  again: { readonly place: Place; readonly options: ContextOptions } | undefined;
}

interface Place {
  readonly document: DocumentText;
  readonly position: Position;
  readonly scope: string;
}

/**
 * The context of each document. It is gathered ahead of requests: when a document is shown, the cursor rests, or another
 * file changed. A request takes the context that is there.
 */
export class KeptContext {
  readonly #clock: Clock;
  readonly #source: ContextSource | undefined;
  readonly #kept = new Map<string, Kept>();
  readonly #running = new Map<string, Gathering>();
  #begun = 0;
  /** Time and place of the last gathering. */
  readonly #last = new Map<string, { readonly at: number; readonly line: number; readonly version: number }>();

  constructor(clock: Clock, source: ContextSource | undefined) {
    this.#clock = clock;
    this.#source = source;
  }

  /** Gathers in the background. */
  prepare(document: DocumentText, position: Position, options: ContextOptions): void {
    if (this.#source === undefined) return;
    this.#gather({ document, position, scope: enclosingFunction(document, position) }, options);
  }

  /** The snippets that are there within 30 ms. Later ones are kept for the next request. */
  async at(document: DocumentText, position: Position, options: ContextOptions): Promise<readonly Snippet[]> {
    if (this.#source === undefined) return [];
    const place = { document, position, scope: enclosingFunction(document, position) };
    if (this.#find(place, options) === undefined) {
      const { first } = this.#gather(place, options);
      const inTime = new AbortController();
      await Promise.race([first, delay(this.#clock, WAIT_MS, inTime.signal)]);
      inTime.abort();
    } else if (this.#isOld(place)) {
      // After the request of this key.
      this.#clock.after(0, () => this.#gather(place, options));
    }
    return this.#choose(document.uri, options);
  }

  /** The snippets of a document that are there, for other requests than completions. */
  known(uri: string, { wanted, excluded }: Pick<ContextOptions, 'wanted' | 'excluded'>): readonly Snippet[] {
    const kept = this.#kept.get(uri);
    return kept?.wanted === wanted ? kept.chosen.filter(({ path }) => !excluded(path)) : [];
  }

  forget(uri: string): void {
    this.#kept.delete(uri);
    this.#last.delete(uri);
  }

  /** The context that was gathered for this place. Kinds that the user has turned off since then are not used. */
  #find({ document: { uri }, scope }: Place, { wanted }: ContextOptions): Kept | undefined {
    const kept = this.#kept.get(uri);
    return kept?.wanted === wanted && kept.scope === scope ? kept : undefined;
  }

  #isOld({ document: { uri, version }, position: { line } }: Place): boolean {
    const last = this.#last.get(uri);
    if (last === undefined || last.version === version) return last === undefined;
    return last.line !== line || this.#clock.now() - last.at >= PAUSE_MS;
  }

  #choose(uri: string, options: ContextOptions): readonly Snippet[] {
    const { room } = options;
    const kept = this.#kept.get(uri);
    if (kept !== undefined && kept.room !== room) {
      kept.chosen = chooseSnippets(kept.candidates, room);
      kept.room = room;
    }
    return this.known(uri, options);
  }

  #gather(place: Place, options: ContextOptions): Gathering {
    const { uri, version } = place.document;
    const running = this.#running.get(uri);
    if (running !== undefined) {
      running.again = { place, options };
      return running;
    }
    this.#last.set(uri, { at: this.#clock.now(), line: place.position.line, version });
    let reported: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      reported = resolve;
    });
    const gathering: Gathering = { first, again: undefined };
    this.#running.set(uri, gathering);
    void this.#run(place, options, reported).finally(() => {
      this.#running.delete(uri);
      reported();
      const { again } = gathering;
      if (again !== undefined && again.place.document.version !== version) this.#gather(again.place, again.options);
    });
    return gathering;
  }

  async #run(place: Place, options: ContextOptions, reported: () => void): Promise<void> {
    const { wanted, room, excluded } = options;
    const abort = new AbortController();
    const { uri } = place.document;
    const before = this.#find(place, options);
    this.#begun += 1;
    const number = this.#begun;
    const keep = (snippets: readonly Snippet[], complete: boolean) => {
      if ((this.#kept.get(uri)?.number ?? 0) > number) return;
      const candidates = snippets.filter(({ path }) => !excluded(path));
      // A prompt that had all snippets does not get only the first ones.
      if (complete || before === undefined) {
        const chosen = chooseSnippets(candidates, room, before?.chosen);
        this.#kept.delete(uri);
        this.#kept.set(uri, { number, wanted, scope: place.scope, candidates, chosen, room });
        const [oldest] = this.#kept.keys();
        if (this.#kept.size > DOCUMENTS && oldest !== undefined) this.forget(oldest);
      }
      reported();
    };
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(TIMEOUT_MS, () => {
        abort.abort();
        resolve();
      });
      void this.#source?.(place, wanted, abort.signal, (snippets) => keep(snippets, false))
        .then((snippets) => keep(snippets, true))
        // A suggestion without context is better than none.
        .catch(() => undefined)
        .finally(() => {
          cancel();
          resolve();
        });
    });
  }
}
