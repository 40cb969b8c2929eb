import { GatewayError } from '../wire/errors.ts';
import { isObject, objectOf, textOf } from '../wire/json.ts';

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ENOTFOUND: 'could not be found (DNS)',
  EAI_AGAIN: 'could not be looked up (DNS)',
  ECONNRESET: 'reset the connection',
  EPIPE: 'closed the connection',
  ETIMEDOUT: 'did not answer in time',
  EHOSTUNREACH: 'can’t be reached',
  ENETUNREACH: 'can’t be reached: no network',
  UND_ERR_CONNECT_TIMEOUT: 'did not accept the connection in time',
  UND_ERR_SOCKET: 'closed the connection',
  UND_ERR_HEADERS_TIMEOUT: 'did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'stopped answering',
  UND_ERR_HEADERS_OVERFLOW: 'answered with headers that are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'answered with another length than it said',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'uses a certificate that is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'uses a certificate that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'uses a certificate that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'uses a certificate that is not trusted',
  CERT_HAS_EXPIRED: 'uses a certificate that has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'uses a certificate of another name',
};

/** The system's code of a failure, found through `cause` and aggregated attempts (IPv4 and IPv6). */
export function failureCode(thrown: unknown): string | undefined {
  let current: unknown = thrown;
  for (let depth = 0; depth < 6 && isObject(current); depth++) {
    const code = textOf(current.code);
    if (code !== undefined) return code;
    const attempts = current.errors;
    current = Array.isArray(attempts) ? attempts[0] : current.cause;
  }
  return undefined;
}

/** A failure of the network as the error of the house. `url` gives the host to name; nothing else of it is told. */
export function networkError(thrown: unknown, url: string): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const code = failureCode(thrown);
  const trust = code !== undefined && /CERT|VERIFY|TLS|SSL/.test(code);
  const words = WORDS[code ?? ''] ?? (trust ? 'has a TLS problem' : unnamed(thrown));
  return new GatewayError({
    status: 503,
    errorType: 'network_error',
    message: `${hostOf(url)} ${words}${code === undefined ? '' : ` (${code})`}.`,
    retryable: !trust,
    ...(code === undefined ? {} : { code }),
    action: trust ? 'Add your company’s certificate with NODE_EXTRA_CA_CERTS.' : 'Check the network and the base URL.',
    cause: thrown,
  });
}

/** Of what has no code of its own: whoever listens there may speak another protocol. */
function unnamed(thrown: unknown): string {
  const error = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const noHttp = error instanceof Error && (error.name === 'HTTPParserError' || error.name === 'AssertionError');
  return noHttp ? 'answered with something that is not HTTP' : 'could not be reached';
}

/** The connection broke while an answer was on its way. */
export function disconnectError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const code = textOf(objectOf(thrown).code) ?? failureCode(thrown);
  return new GatewayError({
    status: 503,
    errorType: 'upstream_disconnect',
    message: 'The provider closed the connection before the answer was complete.',
    retryable: true,
    ...(code === undefined ? {} : { code }),
    cause: thrown,
  });
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'The provider';
  }
}
