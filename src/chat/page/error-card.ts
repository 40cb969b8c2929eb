import { defined } from '../../base/json.ts';
import { type ErrorType, formatMessage, type SvcError, withProviderName } from '../../wire/errors/svc-error.ts';
import type { CardAction, ErrorCard } from '../message-parts.ts';

/** Title and main action for each error type. The compiler checks that no type is missing. */
const CARDS: Readonly<Record<ErrorType, readonly [title: string, action: CardAction]>> = {
  authentication_required: ['The key was not accepted', 'set-key'],
  usage_limit_exceeded: ['No usage left for this model', 'choose-model'],
  insufficient_credits: ['The provider account is out of funds', 'choose-model'],
  model_not_allowed: ['Your organization does not allow this model', 'choose-model'],
  permission_denied: ['The key may not do this', 'set-key'],
  model_not_found: ['The model was not found', 'choose-model'],
  unsupported_fim_model: ['This model can’t do this', 'choose-model'],
  rate_limit_exceeded: ['Too many requests', 'retry'],
  context_length_exceeded: ['The conversation is too long for this model', 'compact'],
  request_too_large: ['The message is too large', 'edit'],
  content_filtered: ['The provider’s filter refused the request', 'edit'],
  unsupported_field: ['This model can’t process this', 'choose-model'],
  invalid_request: ['The provider refused the request', 'show-log'],
  invalid_path: ['The address is wrong', 'open-settings'],
  method_not_allowed: ['The address is wrong', 'open-settings'],
  origin_not_allowed: ['The address is not allowed', 'open-settings'],
  configuration_error: ['The settings need attention', 'open-settings'],
  credential_withheld: ['The key was withheld', 'review-origin'],
  upstream_timeout: ['The provider took too long', 'retry'],
  upstream_disconnect: ['The connection was lost', 'retry'],
  upstream_error: ['The provider failed', 'retry'],
  upstream_invalid_response: ['The answer could not be understood', 'open-settings'],
  temporarily_unavailable: ['The provider is temporarily unavailable', 'retry'],
  network_error: ['The provider could not be reached', 'retry'],
  client_disconnect: ['The request was cancelled', 'retry'],
  internal_error: ['Something failed inside Svc', 'show-log'],
};

/**
 * Creates the card for an error.
 *
 * @param now Unix milliseconds.
 * @param providerName returns the display name of a provider.
 */
export function errorCard(error: SvcError, now: number, providerName?: (id: string) => string): ErrorCard {
  const [title, action] = CARDS[error.errorType];
  const name = error.provider === undefined ? undefined : providerName?.(error.provider);
  const text = withProviderName(error.text, error.provider, name);
  const advice = error.actionText && withProviderName(error.actionText, error.provider, name);
  return {
    errorType: error.errorType,
    status: error.status,
    title,
    message: formatMessage(text),
    text,
    action,
    ...(advice && { advice: formatMessage(advice), adviceText: advice }),
    ...(error.retryAfterMs === undefined ? {} : { retryAt: now + error.retryAfterMs }),
    ...defined({ provider: error.provider, providerName: name }),
  };
}
