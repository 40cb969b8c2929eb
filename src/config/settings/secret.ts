import { inspect } from 'node:util';

/**
 * A credential that cannot be printed by accident: every conversion to text, JSON or a debug view
 * shows `[secret]`. `reveal()` is called only where a request's headers are built.
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

/** A text inside free-form options that came through `{env:}` or `{file:}`. */
export class ReferencedSecret extends Secret {
  /** From a trusted source, so it stays home when an untrusted one moves the provider elsewhere. */
  readonly trusted: boolean;

  constructor(value: string, trusted: boolean) {
    super(value);
    this.trusted = trusted;
  }
}

/**
 * Free-form options as they go into a request: secrets become text.
 *
 * @param keepTrusted `false` leaves out what came from a trusted source through a reference.
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
