import { batch, computed, type Signal, signal } from '@preact/signals';
import type { Attachment } from '../../chat/attachment.ts';
import type { TurnSummary } from '../../chat/message-parts.ts';
import { branchTo, isRunning, type Message, messageText, type Part, versionsIn } from '../../chat/transcript.ts';
import { NO_COPY, type PageCopy, takeFromHost } from '../../protocol/chat/page-copy.ts';
import type {
  CompletionItem,
  ContextChip,
  ModelSetup,
  ModelView,
  QueuedView,
  ToPage,
} from '../../protocol/chat/page-messages.ts';

/** A message on the visible branch, with its versions and its 0-based index among them. */
export interface ShownBranch {
  readonly id: string;
  readonly version: number;
  readonly versions: readonly string[];
}

/** The state of the page: a copy of the host's conversation, updated by its messages. */
export class ConversationState {
  readonly #resync: () => void;
  readonly #messages = new Map<string, Signal<Message>>();
  readonly #next: ToPage[] = [];
  #copy: PageCopy = NO_COPY;
  #frame = 0;
  #resyncRequested = false;
  #hasDraft = false;

  /** The messages of the visible branch. */
  readonly path = signal<readonly ShownBranch[]>([]);
  readonly session = signal('');
  readonly running = signal(false);
  readonly model = signal<ModelView | null>(null);
  /** Why there is no model. */
  readonly setup = signal<ModelSetup>({ kind: 'loading' });
  readonly trusted = signal(true);
  /** There are conversations to show. */
  readonly history = signal(false);
  readonly attachments = signal<readonly Attachment[]>([]);
  readonly draft = signal('');
  /** What is typed before the first snapshot. `send`: Enter was pressed after it. */
  readonly early = { text: '', send: false };
  readonly contextChips = signal<readonly ContextChip[]>([]);
  /** The next message asks for a plan. */
  readonly planning = signal(false);
  /** The changes of the answers. */
  readonly turns = signal<readonly TurnSummary[]>([]);
  readonly queue = signal<readonly QueuedView[]>([]);
  readonly completions = signal<{ readonly query: number; readonly items: readonly CompletionItem[] }>({
    query: 0,
    items: [],
  });
  /** The script of the frame in which diagrams are drawn, after it was requested. */
  readonly diagramScript = signal<string | undefined>(undefined);
  /** The last answer to `check-paths`. */
  readonly foundPaths = signal<Extract<ToPage, { type: 'paths' }> | undefined>(undefined);
  /** Incremented each time the host requests focus for the composer. */
  readonly focusWanted = signal(0);
  /** Incremented each time the page gets out of sight. */
  readonly hidden = signal(0);
  /** False until the first snapshot. Nothing is visible before, to avoid flicker, but the composer accepts text. */
  readonly ready = signal(false);
  /** Context tokens, as reported with the last answer. */
  readonly context = computed(() => {
    for (const { id } of this.path.value.toReversed()) {
      const message = this.message(id)?.value;
      if (message?.role === 'summary') return 0;
      if (message?.context !== undefined) return message.context;
    }
    return 0;
  });
  /** Texts that the user sent on the visible branch, first to last. */
  get sentTexts(): readonly string[] {
    return this.path.value.flatMap(({ id }) => {
      const message = this.message(id)?.value;
      return message?.role === 'user' && !message.auto ? [messageText(message)] : [];
    });
  }
  /** The tool calls that wait for a decision. */
  readonly waiting = computed(() =>
    this.path.value.flatMap(({ id }) => {
      const message = this.message(id)?.value;
      return message?.ending === undefined ? (message?.parts ?? []).filter(isWaiting) : [];
    }),
  );
  /** Cost of all visible answers in USD; undefined if no price is known. */
  readonly price = computed(() => {
    const prices = this.path.value.flatMap(({ id }) => this.message(id)?.value.price ?? []);
    return prices.length === 0 ? undefined : prices.reduce((sum, price) => sum + price, 0);
  });

  /** @param resync requests a snapshot from the host. */
  constructor(resync: () => void) {
    this.#resync = resync;
  }

  /** Adds a text to the draft, focuses the composer and returns the draft. */
  addToDraft(text: string): string {
    const draft = this.draft.value;
    this.draft.value = draft === '' || /\s$/.test(draft) ? draft + text : `${draft} ${text}`;
    this.focusWanted.value += 1;
    return this.draft.value;
  }

  message(id: string): Signal<Message> | undefined {
    return this.#messages.get(id);
  }

  /** Handles a message from the host. Patches are applied once per frame, and not while the page is hidden. */
  receive(message: ToPage): void {
    if (message.type !== 'patches') {
      this.flush();
      this.#apply([message]);
      return;
    }
    this.#next.push(message);
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.flush());
  }

  /** Applies the collected patches. */
  flush(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.#next.length > 0) this.#apply(this.#next.splice(0));
  }

  #apply(messages: readonly ToPage[]): void {
    batch(() => {
      for (const message of messages) this.#handle(message);
    });
  }

  #handle(message: ToPage): void {
    switch (message.type) {
      case 'snapshot':
        this.#resyncRequested = false;
        this.#updateCopy(message);
        this.ready.value = true;
        return;
      case 'patches':
        this.#updateCopy(message);
        return;
      case 'draft':
        // Text that was typed before the first draft arrived follows it.
        if (message.text !== undefined) this.draft.value = message.text + (this.#hasDraft ? '' : this.draft.value);
        this.#hasDraft = true;
        this.attachments.value = message.attachments;
        return;
      case 'context':
        this.contextChips.value = message.chips;
        return;
      case 'queue':
        this.queue.value = message.messages;
        return;
      case 'model':
        this.model.value = message.model;
        this.setup.value = message.setup ?? { kind: 'none' };
        return;
      case 'workspace':
        this.trusted.value = message.trusted;
        this.history.value = message.history;
        return;
      case 'completions':
        this.completions.value = { query: message.query, items: message.items };
        return;
      case 'paths':
        this.foundPaths.value = message;
        return;
      case 'diagram-script':
        this.diagramScript.value = message.text;
        return;
      case 'turns':
        this.turns.value = message.turns;
        return;
      case 'focus':
        this.focusWanted.value += 1;
        return;
      case 'hidden':
        this.hidden.value += 1;
        return;
    }
  }

  #updateCopy(message: ToPage): void {
    const copy = takeFromHost(this.#copy, message);
    if (copy === undefined) {
      if (!this.#resyncRequested) this.#resync();
      this.#resyncRequested = true;
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

function isWaiting(part: Part): part is Extract<Part, { type: 'tool' }> {
  return part.type === 'tool' && part.state.type === 'waiting';
}
