import type { Model } from '../../catalog/model.ts';
import type { Conversation } from '../../wire/conversation.ts';
import type { Event } from '../../wire/event.ts';
import type { ChatTool, StandingPermissions } from '../tools/tools.ts';
import type { ModelLabel } from '../transcript.ts';

export interface ConverseChoices {
  /** Name of the model's variant. */
  readonly variant?: string;
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
  /** The model that the next message goes to; undefined when none is set up. */
  readonly model: () => SessionModel | undefined;
  readonly newId: () => string;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** What every conversation begins with. */
  readonly instructions?: () => string;
  /** Those that may be offered now: it depends on trust. */
  readonly tools?: () => readonly ChatTool[];
  readonly permissions?: StandingPermissions;
  /** Most tokens of an answer (spec 8). */
  readonly outputCap?: number;
}
