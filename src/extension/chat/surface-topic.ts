import type { Attachment } from '../../chat/attachment.ts';
import type { FromPage, FromPageOf } from '../../protocol/chat/from-page.ts';
import type { ToPage } from '../../protocol/chat/page-messages.ts';
import type { OpenConversation } from './conversations.ts';

/** Handles the messages of a page about one subject. */
export interface Topic<Type extends FromPage['type']> {
  handle(message: FromPageOf<Type>, page: TopicPage): unknown;
}

/** The page that sent a message, as its topic sees it. */
export interface TopicPage {
  /** The conversation that it shows now. */
  readonly conversation: OpenConversation;
  post(message: ToPage): void;
  /** Adds attachments to the draft as soon as they are there. A message that is sent before takes them. */
  attachLater(created: Promise<readonly Attachment[]>): Promise<void>;
  /** Shows the draft of a conversation in the input, if the page shows this conversation. */
  showDraft(conversation: OpenConversation): void;
  /** Shows the attachments of the draft; the text of the input stays as it is. */
  showAttachments(): void;
  focusInput(): void;
}

export type AttachTopic = Topic<'attach' | 'attach-uris' | 'attach-media' | 'attach-refused'>;
export type MentionTopic = Topic<'complete' | 'attach-item'>;
export type ContextTopic = Topic<'toggle-context'>;
export type CallTopic = Topic<'decide' | 'preview'>;
export type ChangeTopic = Topic<'turn' | 'restore'>;
export type AnswerTopic = Topic<'code' | 'copy' | 'open-link' | 'check-paths' | 'open-path' | 'load-diagram-script'>;
export type ComposerTopic = Topic<'draft' | 'detach' | 'send' | 'edit' | 'queue-edit'>;
export type CommandTopic = Topic<
  | 'pick-model'
  | 'choose-tools'
  | 'add-provider'
  | 'add-local'
  | 'add-gateway'
  | 'import-providers'
  | 'open-settings'
  | 'review-origin'
  | 'show-log'
  | 'set-key'
>;
