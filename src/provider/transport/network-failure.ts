import { defined, isObject, nonEmptyString, objectOrEmpty, ownEntry } from '../../base/json.ts';
import { type MessageText, msg, SvcError } from '../../wire/errors/svc-error.ts';
import { answerCutShort } from '../../wire/errors/upstream-errors.ts';
import { proxyOf } from './proxy-failure.ts';

/** Messages by error code, with the host `{0}` and the code `{1}`. Each is a key of l10n/. */
const TEMPLATES: Readonly<Record<string, string>> = {
  ECONNREFUSED: '{0} refused the connection ({1}).',
  ENOTFOUND: '{0} could not be found (DNS) ({1}).',
  EAI_AGAIN: '{0} could not be looked up (DNS) ({1}).',
  ECONNRESET: '{0} reset the connection ({1}).',
  EPIPE: '{0} closed the connection ({1}).',
  ETIMEDOUT: '{0} did not answer in time ({1}).',
  EHOSTUNREACH: '{0} can’t be reached ({1}).',
  ENETUNREACH: '{0} can’t be reached: no network ({1}).',
  UND_ERR_CONNECT_TIMEOUT: '{0} did not accept the connection in time ({1}).',
  UND_ERR_SOCKET: '{0} closed the connection ({1}).',
  UND_ERR_HEADERS_TIMEOUT: '{0} did not answer in time ({1}).',
  UND_ERR_BODY_TIMEOUT: '{0} stopped answering ({1}).',
  UND_ERR_HEADERS_OVERFLOW: '{0} answered with headers that are too large ({1}).',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: '{0} sent a body of another length than its Content-Length ({1}).',
  DEPTH_ZERO_SELF_SIGNED_CERT: '{0} uses a certificate that is not trusted ({1}).',
  SELF_SIGNED_CERT_IN_CHAIN: '{0} uses a certificate that is not trusted ({1}).',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: '{0} uses a certificate that is not trusted ({1}).',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: '{0} uses a certificate that is not trusted ({1}).',
  CERT_HAS_EXPIRED: '{0} uses a certificate that has expired ({1}).',
  ERR_TLS_CERT_ALTNAME_INVALID: '{0} uses a certificate for another host name ({1}).',
};

/** The error code of a failure. Searches `cause` and aggregated attempts (IPv4 and IPv6). */
function failureCode(thrown: unknown): string | undefined {
  let current: unknown = thrown;
  for (let depth = 0; depth < 6 && isObject(current); depth++) {
    const code = nonEmptyString(current.code);
    if (code !== undefined) return code;
    const attempts = current.errors;
    current = Array.isArray(attempts) ? attempts[0] : current.cause;
  }
  return undefined;
}

/** Converts a network failure to an `SvcError`. The message contains the host of `url` and no other part of it. */
export function networkError(thrown: unknown, url: string): SvcError {
  if (thrown instanceof SvcError) return thrown;
  const code = failureCode(thrown);
  if (code === 'EMFILE' || code === 'ENFILE') return noFiles(thrown, code);
  const proxy = proxyOf(thrown);
  const ofProxy = proxy === undefined ? undefined : proxyError(thrown, proxy, hostName(url), code);
  if (ofProxy !== undefined) return ofProxy;
  const trust = code !== undefined && /CERT|VERIFY|TLS|SSL|EPROTO/.test(code);
  return new SvcError({
    errorType: 'network_error',
    message: networkMessage(thrown, hostName(url), code, trust),
    retryable: !trust,
    ...defined({ code }),
    action: actionFor(code),
    cause: thrown,
  });
}

/** Node's codes for a certificate whose issuer is not known (nodejs.org, "X509 certificate error codes"). */
const UNKNOWN_ISSUER = /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|CERT_UNTRUSTED|CERT_CHAIN/;

function actionFor(code = ''): MessageText {
  if (UNKNOWN_ISSUER.test(code)) return msg('Add your company’s certificate with NODE_EXTRA_CA_CERTS.');
  if (/WRONG_VERSION_NUMBER|EPROTO|PACKET_LENGTH/.test(code)) {
    return msg('Check the base URL: does the server speak https at this port?');
  }
  return msg('Check the network and the base URL.');
}

/** Failures before the connection to the provider exists. */
const CONNECTING = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/;

/** A failure of the proxy itself. It is not repeated: the proxy does not change within seconds. */
function proxyError(thrown: unknown, proxy: string, host: string, code: string | undefined): SvcError | undefined {
  const message = proxyMessage(thrown, proxy, host, code);
  if (message === undefined) return undefined;
  return new SvcError({
    errorType: 'network_error',
    message,
    retryable: false,
    ...defined({ code }),
    action: msg('Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY.'),
    cause: thrown,
  });
}

function proxyMessage(thrown: unknown, proxy: string, host: string, code: string | undefined): MessageText | undefined {
  const status = refusedStatus(thrown);
  if (status === 407) return msg('The proxy {0} wants a user name and a password: http://USER:PASSWORD@{0}.', proxy);
  if (status !== undefined) return msg('The proxy {0} refuses the connection to {1} ({2}).', proxy, host, status);
  if (code === 'UND_ERR_PRX_CONN') return msg('The proxy {0} closed the connection to {1}.', proxy, host);
  if (code === undefined || !CONNECTING.test(code)) return undefined;
  return msg('The proxy {0} can’t be reached ({1}).', proxy, code);
}

/** The status of a proxy that refused a tunnel or a request. */
function refusedStatus(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error)) return undefined;
  // undici's words for a tunnel and for plain http.
  const [, status] = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(thrown.message) ?? [];
  return status === undefined ? refusedStatus(thrown.cause) : Number(status);
}

/** The fault is on this machine, so the address of the provider would mislead. */
function noFiles(thrown: unknown, code: string): SvcError {
  return new SvcError({
    errorType: 'temporarily_unavailable',
    message: msg('There are too many open files or connections ({0}).', code),
    retryable: true,
    code,
    action: msg('Try again soon, or raise the limit of open files (ulimit -n).'),
    cause: thrown,
  });
}

function networkMessage(thrown: unknown, host: string, code: string | undefined, trust: boolean): MessageText {
  if (code !== undefined) {
    const template = ownEntry(TEMPLATES, code);
    if (template !== undefined) return { template, values: [host, code] };
    if (trust) return msg('{0} has a TLS problem ({1}).', host, code);
  }
  const error = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  // The server may use another protocol.
  const noHttp = error instanceof Error && (error.name === 'HTTPParserError' || error.name === 'AssertionError');
  if (code === undefined) {
    return noHttp ? msg('{0} answered with something that is not HTTP.', host) : msg('{0} could not be reached.', host);
  }
  return noHttp
    ? msg('{0} answered with something that is not HTTP ({1}).', host, code)
    : msg('{0} could not be reached ({1}).', host, code);
}

/** Converts a failure of the connection during an answer to an `SvcError`. */
export function disconnectError(thrown: unknown): SvcError {
  if (thrown instanceof SvcError) return thrown;
  const code = nonEmptyString(objectOrEmpty(thrown).code) ?? failureCode(thrown);
  return answerCutShort({ code, cause: thrown });
}

function hostName(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'The provider';
  }
}
