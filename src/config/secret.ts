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
