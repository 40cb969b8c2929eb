import type { Secret } from './secret.ts';

/** Where a part of the settings comes from, in rising precedence (docs/configuration.md). */
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
  /** Absolute path of the file, or the name of the variable or place it was read from. */
  readonly path: string;
  /** Whether references resolve in it and its credentials' origins count (spec 5.8). */
  readonly trusted: boolean;
  readonly status: 'loaded' | 'missing' | 'invalid' | 'last-good';
}

/** A place in a source: 1-based line and column. */
export interface Origin {
  readonly source: Source;
  readonly line: number;
  readonly column: number;
}

/** A value and where it was written. */
export interface Located<T> {
  /** Not enumerable where it came through a reference, so that printing the settings does not show it. */
  readonly value: T;
  readonly origin: Origin;
  /** It came, at least in part, through `{env:}` or `{file:}`: never show it. */
  readonly reference?: true;
}

/**
 * A credential (an `apiKey`, a header value, a BYOK key) and the origins (`https://host:port`) it
 * may be sent to. `undefined` origins: it may go where its own untrusted file says.
 */
export interface Credential {
  readonly secret: Secret;
  readonly origin: Origin;
  /** From a trusted source, so bound to the origin that trusted sources name. */
  readonly trusted: boolean;
}
