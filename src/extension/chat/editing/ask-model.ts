import type { Converse, SessionModel } from '../../../chat/session/session-deps.ts';
import { msg, SvcError } from '../../../wire/errors/svc-error.ts';
import { answerCutShort } from '../../../wire/errors/upstream-errors.ts';
import type { FinishReason } from '../../../wire/event.ts';

interface Question {
  readonly system: string;
  /** Texts of the user and answers of the model in turn, first and last of the user. */
  readonly texts: readonly string[];
}

/** Sends a single request outside a conversation and returns the answer. */
export async function askModel(
  converse: Converse,
  { model, label }: SessionModel,
  question: Question,
  signal: AbortSignal,
): Promise<string> {
  const conversation = {
    model: model.id,
    system: [{ type: 'text' as const, text: question.system }],
    turns: question.texts.map((text, index) => {
      return {
        role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
        parts: [{ type: 'text' as const, text }],
      };
    }),
    tools: [],
    sampling: {},
    stream: true,
  };
  let answer = '';
  const choices = label.variant === undefined ? {} : { variant: label.variant };
  for await (const event of converse(model, conversation, signal, choices)) {
    if (event.type === 'text') answer += event.text;
    if (event.type === 'error') throw event.error;
    if (event.type === 'finish') refuseIncomplete(event.reason);
  }
  return answer;
}

/** @throws SvcError: a part of the code must not replace the selection. */
function refuseIncomplete(reason: FinishReason): void {
  if (reason === 'length') throw incomplete();
  if (reason === 'closed' || reason === 'other') throw answerCutShort();
  if (reason !== 'content_filter') return;
  throw new SvcError({
    errorType: 'content_filtered',
    message: msg('The provider’s content filter ended this answer.'),
  });
}

function incomplete(): SvcError {
  return new SvcError({
    errorType: 'upstream_error',
    message: msg('The model reached its output limit before the answer was complete.'),
    action: msg('Select less, or raise `limit.output` for this model.'),
  });
}
