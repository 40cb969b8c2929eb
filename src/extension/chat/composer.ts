import type { Attachment } from '../../chat/attachment.ts';
import { isCompact } from '../../chat/page/slash-commands.ts';
import type { Outgoing } from '../../chat/session/session.ts';
import type { FromPageOf } from '../../protocol/chat/from-page.ts';
import { type Conversations, type OpenConversation, withMessage } from './conversations.ts';
import { expandMessage, type MessageSources, newMessage } from './outgoing-message.ts';
import type { ComposerTopic, TopicPage } from './surface-topic.ts';

export interface ComposerDeps {
  readonly conversations: Conversations;
  readonly sources: MessageSources;
  /** Shows an error to the user. */
  readonly failed: (error: unknown) => void;
}

/** The draft of a conversation, and how it becomes a message. */
export class Composer implements ComposerTopic {
  readonly #deps: ComposerDeps;

  constructor(deps: ComposerDeps) {
    this.#deps = deps;
  }

  async handle(
    message: FromPageOf<'draft' | 'detach' | 'send' | 'edit' | 'queue-edit'>,
    page: TopicPage,
  ): Promise<void> {
    const { conversation } = page;
    switch (message.type) {
      case 'draft':
        conversation.draft = { ...conversation.draft, text: message.text };
        return;
      case 'detach':
        return detach(message.attachment, page);
      case 'send':
        return this.#send(message, page);
      case 'edit':
        return this.#edit(message, page);
      case 'queue-edit':
        return editQueued(message.message, page);
    }
  }

  /** Sends a message for a command of the editor. */
  async send(conversation: OpenConversation, text: string, attachments: readonly Attachment[]): Promise<void> {
    await this.#deps.conversations.hold(conversation, async () => {
      const outgoing = await expandMessage(this.#deps.sources, text, attachments);
      if (outgoing) await conversation.session.send(outgoing);
    });
  }

  /** The page has cleared its input, so a message that cannot be sent is put back into the draft. */
  async #send(sending: FromPageOf<'send'>, page: TopicPage): Promise<void> {
    const { text } = sending;
    const { conversation } = page;
    const { session, draft } = conversation;
    const compacts = isCompact(text) && !session.running;
    conversation.draft = { ...draft, text: '', attachments: compacts ? draft.attachments : [] };
    page.showAttachments();
    if (compacts) return session.compact();
    await this.#deps.conversations.hold(conversation, async () => {
      const { answer } = await this.#sendInOrder(page, sending, draft.attachments);
      await answer;
    });
  }

  /** Resolves when the message is sent, with the promise of its answer, or is put back into the draft. */
  async #sendInOrder(
    page: TopicPage,
    sending: FromPageOf<'send'>,
    attachments: readonly Attachment[],
  ): Promise<{ readonly answer?: Promise<void> }> {
    const { text } = sending;
    const { conversation } = page;
    const { answered } = conversation;
    conversation.answered = new Set();
    const message = { text, attachments };
    const sent = conversation.keepUnsent(message);
    const attaching = conversation.takeAttaching();
    // Its failure is handled when it is its turn.
    attaching.catch(() => undefined);
    return conversation.inOrder(async () => {
      const outgoing = await this.#complete(sending, attachments, attaching, answered);
      const answer = outgoing && conversation.session.send(outgoing);
      if (!answer) conversation.draft = withMessage(conversation.draft, message);
      sent();
      if (!answer) page.showDraft(conversation);
      return answer === undefined ? {} : { answer };
    });
  }

  /** Undefined: the message cannot be sent. */
  async #complete(
    sending: FromPageOf<'send'>,
    attachments: readonly Attachment[],
    attaching: Promise<readonly Attachment[]>,
    answered: ReadonlySet<string>,
  ): Promise<Outgoing | undefined> {
    try {
      return await newMessage(this.#deps.sources, sending, [...attachments, ...(await attaching)], answered);
    } catch (error) {
      this.#deps.failed(error);
      return undefined;
    }
  }

  /** An edit that cannot be sent becomes a draft, as the page has closed its box. */
  async #edit({ message, text }: FromPageOf<'edit'>, page: TopicPage): Promise<void> {
    const { conversation } = page;
    const { session } = conversation;
    const edited = session.transcript.messages.find(({ id }) => id === message);
    await this.#deps.conversations.hold(conversation, async () => {
      const outgoing = await expandMessage(this.#deps.sources, text, edited?.attachments ?? [], edited?.options);
      if (outgoing && !session.running) return session.edit(message, outgoing);
      conversation.draft = withMessage(conversation.draft, { text, attachments: [] });
      page.showDraft(conversation);
    });
  }
}

/** An attachment that the user removed is not attached again because of its name in the text. */
function detach(attachment: string, page: TopicPage): void {
  const { conversation } = page;
  const { draft } = conversation;
  for (const each of draft.attachments) if (each.id === attachment) conversation.answer(each.label);
  conversation.draft = { ...draft, attachments: draft.attachments.filter(({ id }) => id !== attachment) };
  page.showAttachments();
}

/** Puts a waiting message back into the input, before its text. */
function editQueued(id: string, page: TopicPage): void {
  const { conversation } = page;
  const message = conversation.session.takeQueued(id);
  if (!message) return;
  const { text, attachments = [] } = message;
  conversation.draft = withMessage(conversation.draft, { text, attachments });
  page.showDraft(conversation);
  page.focusInput();
}
