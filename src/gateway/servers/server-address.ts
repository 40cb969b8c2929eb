/** A host is not required: the one in the parameter `host` may be the folder of a socket. */
export function parseAddress(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** The message of an error without the password and without a full stop, as a part of a sentence. */
export function withoutSecrets(thrown: unknown, url: string): string {
  const message = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  const raw = message.replace(/\.$/, '');
  const parsed = parseAddress(url);
  const secrets = [parsed?.password, decoded(parsed?.password), parsed?.searchParams.get('password'), url];
  return secrets.reduce((text: string, secret) => (secret ? text.replaceAll(secret, '[secret]') : text), raw);
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
