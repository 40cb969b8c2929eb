import type { ModelSettings } from './configured-model.ts';
import type { Credential, Located, Origin, Source } from './origin.ts';
import type { SetValues } from './values.ts';

export type Severity = 'error' | 'warning' | 'information';

/** A problem in a configuration source. `message` says what is wrong and what to do; it never holds a secret. */
export interface Diagnostic {
  readonly severity: Severity;
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
  /** Length in characters of the text at fault, at least 1. */
  readonly length: number;
  /** Dotted key, `provider.p.models.m.limit.output`; empty for the whole file. */
  readonly key: string;
  /** Stable kebab-case name, such as `unknown-key` or `project-env-refused`. */
  readonly code: string;
  readonly message: string;
  /** A near-miss or a replacement that a quick fix can apply. */
  readonly suggestion?: string;
}

/** `provider.<id>` after merging; a field is `undefined` where no source says it. */
export interface ProviderSettings {
  readonly id: string;
  readonly name?: string | undefined;
  readonly npm?: Located<string> | undefined;
  /** FIM dialect, see provider/dialect. */
  readonly fim?: Located<string> | undefined;
  readonly apiKey?: Credential | undefined;
  readonly baseURL?: Located<string> | undefined;
  readonly fimURL?: Located<string> | undefined;
  readonly resourceName?: Located<string> | undefined;
  readonly headers: ReadonlyMap<string, Credential>;
  /** Milliseconds until the first byte of the body; `false` is off; default 300,000 (spec 8). */
  readonly timeout: number | false;
  /** Milliseconds between parsed events; absent is off. */
  readonly chunkTimeout?: number | undefined;
  /**
   * Everything else under `options`, passed on to the provider. Text that came through a reference
   * is a `ReferencedSecret` here and plain text in `Endpoint.options`.
   */
  readonly options: Readonly<Record<string, unknown>>;
  readonly whitelist?: readonly string[] | undefined;
  readonly blacklist?: readonly string[] | undefined;
  readonly models: ReadonlyMap<string, ModelSettings>;
  /** The origin that trusted sources alone give this provider, before any untrusted change. */
  readonly trustedBaseURL?: string | undefined;
  readonly trustedFimURL?: string | undefined;
  readonly origin: Origin;
  /** `provider.<id>.api`: base address that `baseURL` goes before. */
  readonly api?: Located<string> | undefined;
  /** Environment variables that may hold the key; from trusted sources only. */
  readonly env?: readonly string[] | undefined;
  readonly simulated?: boolean | undefined;
  /** Which sources speak of this provider; absent is `trusted`. */
  readonly trust?: 'trusted' | 'mixed' | 'untrusted' | undefined;
  /** The provider as trusted sources alone say it; there when `trust` is `mixed`. */
  readonly trusted?: ProviderSettings | undefined;
  /** Why no request may go to it: a wrong address or key must not fall back to another one. */
  readonly problem?: string | undefined;
}

export interface OrganizationSettings {
  readonly id: string;
  readonly name: string;
  readonly policy: { readonly allow?: readonly string[]; readonly deny: readonly string[] };
  /** By provider id. */
  readonly byok: ReadonlyMap<string, Credential>;
}

/** The `gateway` section: trusted sources only. */
export interface GatewaySettings {
  readonly listen: { readonly host: string; readonly port: number };
  /** Bytes. */
  readonly maxBodyBytes: number;
  /** Bytes of the bodies of all requests and answers that are held in memory together. */
  readonly maxBufferedBytes: number;
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly organizations: ReadonlyMap<string, OrganizationSettings>;
  readonly embeddingModels: ReadonlyMap<
    string,
    { readonly dimensions?: number; readonly name?: string; readonly context?: number }
  >;
  readonly transcriptionModels: ReadonlyMap<string, { readonly name?: string }>;
  /** Model reference -> references tried in turn. */
  readonly fallback: ReadonlyMap<string, readonly string[]>;
}

/** What all sources say together: immutable, rebuilt whole when one changes. */
export interface Settings {
  readonly sources: readonly Source[];
  readonly diagnostics: readonly Diagnostic[];
  /** `<provider_id>/<model_id>`. */
  readonly model?: Located<string>;
  /** Model for completions, `svc.completion.model` or `completionModel`. */
  readonly completionModel?: Located<string>;
  /** In order of first appearance. A provider switched off with `null` is in `disabledProviders`. */
  readonly providers: ReadonlyMap<string, ProviderSettings>;
  readonly disabledProviders: ReadonlySet<string>;
  readonly gateway: GatewaySettings;
  /** Whether the public catalog is fetched in the background; absent is yes. */
  readonly catalog?: { readonly refresh: boolean };
  /** Every value that is in force and where it is from, for whoever asks. */
  readonly values: SetValues;
  /** A managed file that is invalid: terminal and gateway stop, the editor locks providers. */
  readonly managedProblem?: string;
}
