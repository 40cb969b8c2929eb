import type { Model } from '../../catalog/model.ts';
import type { ModelSetup } from '../../catalog/model-setup.ts';
import type { Conversation } from '../../wire/conversation.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Event } from '../../wire/event.ts';
import type { Checkpoints } from '../checkpoints/checkpoints.ts';
import type { ChatTool, SavedRules } from '../tools/tools.ts';
import type { ModelLabel } from '../transcript.ts';

export interface ConverseChoices {
  /** Name of the model variant. */
  readonly variant?: string;
  /** Id of the conversation. */
  readonly session?: string;
  /** A request failed and is sent again after `delayMs`. */
  readonly onRetry?: (retry: { readonly error: SvcError; readonly delayMs: number }) => void;
}

/** Sends a conversation to a model and streams its answer. */
export type Converse = (
  model: Model,
  conversation: Conversation,
  signal: AbortSignal,
  choices: ConverseChoices,
) => AsyncIterable<Event>;

export interface SessionModel {
  readonly model: Model;
  readonly label: ModelLabel;
}

export interface SessionDeps {
  readonly converse: Converse;
  /**
   * The model for the next message; undefined: none is set up.
   *
   * @param wanted reference or name from a prompt file. If there is no such model, it is ignored.
   */
  readonly model: (wanted?: string) => SessionModel | undefined;
  /** Why there is no model. */
  readonly setup?: () => ModelSetup;
  /** The display name of a provider. */
  readonly providerName?: (id: string) => string;
  readonly newId: () => string;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** System instructions of each conversation. @param paths of the files that it is about. */
  readonly instructions?: (paths: readonly string[]) => string | Promise<string>;
  /** The tools available now. Depends on workspace trust. */
  readonly tools?: () => readonly ChatTool[];
  readonly rules?: SavedRules;
  /** The checkpoints of a conversation; absent: changes can't be taken back. */
  readonly checkpoints?: (conversation: string) => Checkpoints;
  /** Whether the model names new conversations. */
  readonly namedByModel?: () => boolean;
  /** Maximum number of tokens of an answer (spec 8). */
  readonly outputCap?: number;
}
