import type { Secret } from './secret.ts';

/** The kinds of sources in rising precedence (docs/configuration.md). */
export type SourceKind =
  | 'built-in'
  | 'global'
  | 'env-path'
  | 'project'
  | 'editor'
  | 'editor-workspace'
  | 'env-content'
  | 'managed';

export interface Source {
  readonly kind: SourceKind;
  /** Absolute path of the file, or the name of the variable or other source. */
  readonly path: string;
  /** Whether its references are resolved and its credentials are bound to trusted origins (spec 5.8). */
  readonly trusted: boolean;
  readonly status: 'loaded' | 'missing' | 'invalid' | 'last-good';
}

/** A position in a source, with 1-based line and column. */
export interface Origin {
  readonly source: Source;
  readonly line: number;
  readonly column: number;
}

/** A value and its position. */
export interface Located<T> {
  /** Not enumerable if the value is from a reference, so that printing the settings does not show it. */
  readonly value: T;
  readonly origin: Origin;
  /** At least a part of the value is from `{env:}` or `{file:}`: never show it. */
  readonly reference?: true;
}

/** A credential: an `apiKey`, a header value or a BYOK key. */
export interface Credential {
  readonly secret: Secret;
  readonly origin: Origin;
  /** From a trusted source, so it is only sent to the origin that trusted sources set. */
  readonly trusted: boolean;
}
