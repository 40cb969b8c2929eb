import { inspect } from 'node:util';

/**
 * A credential that cannot be printed accidentally: every conversion to text, JSON or a debug view shows `[secret]`.
 * Call `reveal()` only to build the headers of a request.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** A text in free-form options from `{env:}` or `{file:}`. */
export class ReferencedSecret extends Secret {
  /** From a trusted source, so it is not sent if an untrusted source changes the provider's address. */
  readonly trusted: boolean;

  constructor(value: string, trusted: boolean) {
    super(value);
    this.trusted = trusted;
  }
}

/**
 * Free-form options for a request, with secrets as text.
 *
 * @param keepTrusted `false` removes values from references in trusted sources.
 */
export function revealOptions(
  options: Readonly<Record<string, unknown>>,
  keepTrusted = true,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(options);
  if (!entries.some(([, value]) => typeof value === 'object' && value !== null)) return options;
  const revealed = entries.map(([key, value]) => [key, revealValue(value, keepTrusted)] as const);
  return Object.fromEntries(revealed.filter(([, value]) => value !== undefined));
}

function revealValue(value: unknown, keepTrusted: boolean): unknown {
  if (value instanceof ReferencedSecret) return keepTrusted || !value.trusted ? value.reveal() : undefined;
  if (value instanceof Secret) return keepTrusted ? value.reveal() : undefined;
  if (Array.isArray(value))
    return value.map((item) => revealValue(item, keepTrusted)).filter((item) => item !== undefined);
  return typeof value === 'object' && value !== null ? revealOptions({ ...value }, keepTrusted) : value;
}
