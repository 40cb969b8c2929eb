import type { GatewayError } from '../wire/errors.ts';
import type { ErrorCard } from './transcript.ts';

const TITLES: Partial<Record<GatewayError['errorType'], string>> = {
  authentication_required: 'The key was not accepted',
  usage_limit_exceeded: 'No usage left for this model',
  insufficient_credits: 'The provider account is out of funds',
  model_not_allowed: 'Your organization does not allow this model',
  model_not_found: 'The model was not found',
  rate_limit_exceeded: 'Too many requests',
  context_length_exceeded: 'The conversation is too long for this model',
  upstream_timeout: 'The provider took too long',
  upstream_disconnect: 'The connection was lost',
  network_error: 'The provider could not be reached',
  temporarily_unavailable: 'The provider is unavailable just now',
  configuration_error: 'The settings need attention',
  credential_withheld: 'The key was held back',
};

/** An error as a card of the panel. */
export function errorCard(error: GatewayError): ErrorCard {
  return {
    errorType: error.errorType,
    status: error.status,
    title: TITLES[error.errorType] ?? 'The answer failed',
    message: error.message,
    ...(error.action === undefined ? {} : { action: error.action }),
    retryable: error.retryable,
  };
}
