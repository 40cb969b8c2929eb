import { type MessageText, msg, type SvcError } from './svc-error.ts';

/** One short sentence about a failed request that is sent again: the reason and the remaining wait. */
export function retryMessage({ errorType }: Pick<SvcError, 'errorType'>, seconds: number): MessageText {
  switch (errorType) {
    case 'rate_limit_exceeded':
      return msg('Rate limited, retrying in {0} s', seconds);
    case 'upstream_timeout':
      return msg('No answer in time, retrying in {0} s', seconds);
    case 'network_error':
    case 'upstream_disconnect':
      return msg('The connection failed, retrying in {0} s', seconds);
    case 'temporarily_unavailable':
      return msg('The provider is unavailable, retrying in {0} s', seconds);
    default:
      return msg('The provider failed, retrying in {0} s', seconds);
  }
}
