import { batch, computed, type Signal, signal } from '@preact/signals';
import type { Attachment } from '../../chat/attachment.ts';
import { NO_COPY, type PageCopy, takeFromHost } from '../../chat/page/page-copy.ts';
import type { CompletionItem, ModelView, ToPage } from '../../chat/page/page-messages.ts';
import { branchTo, isRunning, type Message, versionsIn } from '../../chat/transcript.ts';

/** Where a message stands among its versions, 0-based. */
export interface ShownBranch {
  readonly id: string;
  readonly version: number;
  readonly versions: readonly string[];
}

/** What the page shows. The host owns it: this is a copy that follows the host's messages. */
export class ConversationState {
  readonly #resync: () => void;
  readonly #messages = new Map<string, Signal<Message>>();
  readonly #next: ToPage[] = [];
  #copy: PageCopy = NO_COPY;
  #frame = 0;
  #asked = false;

  /** The messages on the way to the leaf. */
  readonly path = signal<readonly ShownBranch[]>([]);
  readonly session = signal('');
  readonly running = signal(false);
  readonly model = signal<ModelView | null>(null);
  readonly trusted = signal(true);
  readonly attachments = signal<readonly Attachment[]>([]);
  readonly draft = signal('');
  readonly completions = signal<{ readonly query: number; readonly items: readonly CompletionItem[] }>({
    query: 0,
    items: [],
  });
  /** Counts the times that the host wants the composer to have the focus. */
  readonly focusWanted = signal(0);
  /** False until the first snapshot: nothing is drawn that the next moment would take back. */
  readonly ready = signal(false);
  /** Tokens that the next request begins with, as the last answer counted them. */
  readonly context = computed(() => {
    for (const { id } of this.path.value.toReversed()) {
      const message = this.message(id)?.value;
      if (message?.role === 'summary') return 0;
      if (message?.context !== undefined) return message.context;
    }
    return 0;
  });
  /** USD of all answers that are shown; undefined where no price is known. */
  readonly price = computed(() => {
    const prices = this.path.value.flatMap(({ id }) => this.message(id)?.value.price ?? []);
    return prices.length === 0 ? undefined : prices.reduce((sum, price) => sum + price, 0);
  });

  /** @param resync asks the host for a snapshot. */
  constructor(resync: () => void) {
    this.#resync = resync;
  }

  message(id: string): Signal<Message> | undefined {
    return this.#messages.get(id);
  }

  /** Takes a message of the host; what streams is drawn once a frame, and not at all while nobody sees it. */
  receive(message: ToPage): void {
    if (message.type !== 'patches') {
      this.flush();
      this.#apply([message]);
      return;
    }
    this.#next.push(message);
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.flush());
  }

  /** Draws what has come. */
  flush(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#next.length > 0) this.#apply(this.#next.splice(0));
  }

  #apply(messages: readonly ToPage[]): void {
    batch(() => {
      for (const message of messages) this.#take(message);
    });
  }

  #take(message: ToPage): void {
    switch (message.type) {
      case 'snapshot':
        this.#asked = false;
        this.#follow(message);
        this.ready.value = true;
        return;
      case 'patches':
        this.#follow(message);
        return;
      case 'draft':
        if (message.text !== undefined) this.draft.value = message.text;
        this.attachments.value = message.attachments;
        return;
      case 'model':
        this.model.value = message.model;
        return;
      case 'workspace':
        this.trusted.value = message.trusted;
        return;
      case 'completions':
        this.completions.value = { query: message.query, items: message.items };
        return;
      case 'focus':
        this.focusWanted.value += 1;
        return;
    }
  }

  #follow(message: ToPage): void {
    const copy = takeFromHost(this.#copy, message);
    if (copy === undefined) {
      if (!this.#asked) this.#resync();
      this.#asked = true;
      return;
    }
    if (copy === this.#copy) return;
    const before = this.#copy;
    this.#copy = copy;
    this.session.value = copy.session;
    this.running.value = isRunning(copy.transcript);
    const path = branchTo(copy.transcript);
    const kept = copy.session === before.session;
    if (!kept) this.#messages.clear();
    for (const each of path) {
      const known = this.#messages.get(each.id);
      if (known) known.value = each;
      else this.#messages.set(each.id, signal(each));
    }
    const { messages, leaf } = before.transcript;
    if (kept && messages.length === copy.transcript.messages.length && leaf === copy.transcript.leaf) return;
    const versionsOf = versionsIn(copy.transcript);
    this.path.value = path.map((each) => {
      const versions = versionsOf(each).map(({ id }) => id);
      return { id: each.id, versions, version: versions.indexOf(each.id) };
    });
  }
}
