import { signal } from '@preact/signals';
import type { ChatHost } from './host-link.ts';

/** Where a text is typed: a message or a call by its id. */
export interface TypedPlace {
  readonly kind: 'edit' | 'command' | 'reason' | 'answer';
  readonly id: string;
  /** The id of the message or call that it changes or answers. Some providers use the id of a call again. */
  readonly of: string;
}

/** The oldest texts of more places are forgotten: their calls were decided elsewhere. */
const MAX_TEXTS = 100;

/** Texts that the user types outside the composer. VS Code keeps them while the page is hidden. */
export class TypedTexts {
  readonly #link: ChatHost;
  readonly #session: () => string;
  readonly #texts = signal<Readonly<Record<string, string>>>({});

  /** @param session id of the conversation that is shown. */
  constructor(link: ChatHost, session: () => string) {
    this.#link = link;
    this.#session = session;
    this.#texts.value = link.memory.typed ?? {};
  }

  /** Undefined: nothing was typed. */
  get(place: TypedPlace): string | undefined {
    return this.#texts.value[this.#key(place)];
  }

  set(place: TypedPlace, text: string): void {
    const key = this.#key(place);
    const others = this.#entries().filter(([other]) => other !== key);
    this.#keep([...others.slice(1 - MAX_TEXTS), [key, text]]);
  }

  /** Forgets the text that was typed for a message or a call. */
  forget(id: string): void {
    const start = this.#start(id);
    this.#keep(this.#entries().filter(([key]) => !key.startsWith(start)));
  }

  #entries(): [string, string][] {
    return Object.entries(this.#texts.value);
  }

  #keep(entries: [string, string][]): void {
    this.#texts.value = Object.fromEntries(entries);
    this.#link.remember({ typed: this.#texts.value });
  }

  #key({ kind, id, of }: TypedPlace): string {
    return `${this.#start(id)}${kind} ${of}`;
  }

  #start(id: string): string {
    return `${JSON.stringify([this.#session(), id])} `;
  }
}
