import type * as z from 'zod';
import type { budget, rate, sharedBy } from '../schema/limits.ts';
import type { catalogSchema, gatewaySchema, poolSchema } from '../schema/schema.ts';
import type { ModelSettings } from './configured-model.ts';
import type { Credential, Located, Origin, Source } from './origin.ts';
import type { WaitingChange } from './project-part.ts';
import type { SetValues } from './values.ts';

export type Severity = 'error' | 'warning' | 'information';

/** A problem in a configuration source. `message` states the problem and the solution. It never contains a secret. */
export interface Diagnostic {
  readonly severity: Severity;
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
  /** Length of the invalid text in characters, at least 1. */
  readonly length: number;
  /** Dotted key, `provider.p.models.m.limit.output`; empty for the whole file. */
  readonly key: string;
  /** Stable kebab-case name, such as `unknown-key` or `project-env-refused`. */
  readonly code: string;
  readonly message: string;
  /** A similar name or a replacement for a quick fix. */
  readonly suggestion?: string;
}

/** `provider.<id>` after merging. A field is `undefined` if no source sets it. */
export interface ProviderSettings {
  readonly id: string;
  readonly name?: string | undefined;
  readonly npm?: Located<string> | undefined;
  /** FIM dialect, see `FIM_DIALECTS`. */
  readonly fim?: Located<string> | undefined;
  /** The format for next edits of all models. */
  readonly edit?: string | undefined;
  readonly apiKey?: Credential | undefined;
  readonly baseURL?: Located<string> | undefined;
  readonly fimURL?: Located<string> | undefined;
  readonly resourceName?: Located<string> | undefined;
  readonly headers: ReadonlyMap<string, Credential>;
  /** Milliseconds until the first byte of the body; `false` means no limit; default 300,000 (spec 8). */
  readonly timeout: number | false;
  /** Milliseconds between parsed events; absent means no limit. */
  readonly chunkTimeout?: number | undefined;
  /**
   * All other members of `options`, which are passed on to the provider. Text from a reference is a `ReferencedSecret`
   * here and plain text in `Endpoint.options`.
   */
  readonly options: Readonly<Record<string, unknown>>;
  readonly whitelist?: readonly string[] | undefined;
  readonly blacklist?: readonly string[] | undefined;
  readonly models: ReadonlyMap<string, ModelSettings>;
  /** The address from trusted sources only, before any untrusted change. */
  readonly trustedBaseURL?: string | undefined;
  readonly trustedFimURL?: string | undefined;
  readonly origin: Origin;
  /** `provider.<id>.api`: base address if there is no `baseURL`. */
  readonly api?: Located<string> | undefined;
  /** Environment variables that may contain the key; from trusted sources only. */
  readonly env?: readonly string[] | undefined;
  /** Whether reasoning in tags is split from the text of answers. Absent: by the model’s profile. */
  readonly reasoningTags?: boolean | undefined;
  readonly toolCallsInText?: boolean | undefined;
  readonly simulated?: boolean | undefined;
  /** The trust of the sources that configure this provider; absent means `trusted`. */
  readonly trust?: 'trusted' | 'mixed' | 'untrusted' | undefined;
  /** The provider from trusted sources only; present if `trust` is `mixed`. */
  readonly trusted?: ProviderSettings | undefined;
  /** The provider as long as the project's folder is not allowed; present if a project sets a part of it. */
  readonly permitted?: ProviderSettings | undefined;
  /** The changes of a project that `permitted` does not contain. */
  readonly waiting?: readonly WaitingChange[] | undefined;
  /** The reason why no request may be sent: an invalid address or key must not be replaced by another one. */
  readonly problem?: string | undefined;
}

export interface OrganizationSettings {
  readonly id: string;
  readonly name: string;
  readonly policy: { readonly allow?: readonly string[]; readonly deny: readonly string[] };
  /** By provider id. */
  readonly byok: ReadonlyMap<string, Credential>;
  readonly limits: LimitSettings;
}

export type BudgetSettings = Readonly<z.infer<typeof budget>> & SharedBy;
export type RateSettings = Readonly<z.infer<typeof rate>> & SharedBy;

interface SharedBy {
  /** Each of them has the limit. Only limits of the configuration. */
  readonly each?: z.infer<typeof sharedBy> | undefined;
}

export interface LimitSettings {
  readonly budgets: readonly BudgetSettings[];
  readonly rates: readonly RateSettings[];
}

/** `gateway.pools.<name>`. */
export type PoolSettings = Readonly<z.output<typeof poolSchema>>;

/** Milliseconds that the parts of the gateway's ledger are kept. */
export interface LedgerRetention {
  /** Single rows. Their sums are kept. */
  readonly usage: number;
  /** Sums of quarters of an hour. Afterwards they are part of one sum, so that totals stay right. */
  readonly rollup: number;
}

type Gateway = z.output<typeof gatewaySchema>;
/** An object of the section as a map. */
type Members<Name extends 'embeddingModels' | 'transcriptionModels'> = ReadonlyMap<
  string,
  Readonly<NonNullable<Gateway[Name]>[string]>
>;

/** `gateway.telemetry`. */
export interface TelemetrySettings extends Readonly<Omit<NonNullable<Gateway['telemetry']>, 'headers'>> {
  readonly headers: ReadonlyMap<string, Credential>;
}

/** The `gateway` section: trusted sources only. */
export interface GatewaySettings extends Readonly<Pick<Gateway, 'maxBodyBytes' | 'maxBufferedBytes' | 'publicUrl'>> {
  readonly listen: Readonly<NonNullable<Gateway['listen']>>;
  /** Milliseconds for which a connection to a provider gets requests. */
  readonly connectionAge: number;
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly organizations: ReadonlyMap<string, OrganizationSettings>;
  /** Limits of all requests together. */
  readonly limits: LimitSettings;
  /** By the name that `svc keys create --user` gives to a key. */
  /** Patterns of models without a price that hard budgets admit. */
  readonly unpricedModels: readonly string[];
  /** Patterns of models that FIM admits besides the two families of the specification. */
  readonly fimModels: readonly string[];
  readonly users: ReadonlyMap<string, LimitSettings>;
  /** Receives a POST request when a share of a budget is spent. */
  readonly alertWebhook?: Credential | undefined;
  readonly retention: LedgerRetention;
  /** Address of the Postgres database that several gateways share. Absent: a local SQLite file. */
  readonly state?: Credential | undefined;
  /** The program, with its arguments, that prints the password of that database. */
  readonly statePasswordCommand?: readonly string[] | undefined;
  /** Who counts rates: this process alone, or all that share a `state`. */
  readonly rateStore: 'memory' | 'state';
  /** Milliseconds for which keys are used while that database can’t be reached. */
  readonly maxStale: number;
  readonly embeddingModels: Members<'embeddingModels'>;
  readonly transcriptionModels: Members<'transcriptionModels'>;
  /** Name or pattern with `*` -> reference of a model or pool, in order. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Model reference -> fallback references in order. */
  readonly fallback: ReadonlyMap<string, readonly string[]>;
  /** Absent: nothing is sent. */
  readonly telemetry?: TelemetrySettings | undefined;
  /** Absent: the admin API and its page are off. */
  readonly admin?: AdminSettings | undefined;
  /** Labels of the metrics of tokens and cost, in addition to the model. */
  readonly metricLabels: ReadonlySet<string>;
  /** By the name of the pool, in the form of a model reference. */
  readonly pools: ReadonlyMap<string, PoolSettings>;
}

export interface AdminSettings {
  /** Milliseconds until the session of a browser ends. */
  readonly sessionMs: number;
  /** IANA name. */
  readonly timeZone: string;
}

/** The combined settings of all sources. Immutable: rebuilt completely after a change. */
/** The models that the configuration chooses, as `<provider_id>/<model_id>`. */
export interface ModelChoices {
  readonly model?: Located<string>;
  /** Model for completions, `svc.completion.model` or `completionModel`. */
  readonly completionModel?: Located<string>;
  /** Model for next edits. */
  readonly nextEditModel?: Located<string>;
}

export interface LocalOnly {
  /** `10.0.0.0/8` */
  readonly networks: readonly string[];
}

export interface Settings extends ModelChoices {
  readonly sources: readonly Source[];
  readonly diagnostics: readonly Diagnostic[];
  /** The choices of trusted sources. */
  readonly ownChoices?: ModelChoices;
  /** Project folders, as real paths, whose settings are used. */
  readonly projects?: readonly string[];
  /** The user has allowed all of them. */
  readonly projectAllowed?: boolean;
  /** Providers that are used only when the user names them: a project that is not allowed has added them. */
  readonly namedOnly?: ReadonlySet<string>;
  /** In order of first appearance. Disabled providers (`null`) are in `disabledProviders`. */
  readonly providers: ReadonlyMap<string, ProviderSettings>;
  readonly disabledProviders: ReadonlySet<string>;
  /** Whether `enabled_providers` and `disabled_providers` leave it, also if only a key or the catalog knows it. */
  readonly offersProvider?: (id: string) => boolean;
  readonly gateway: GatewaySettings;
  /** Requests go only to this machine and these networks. Absent: to any address. */
  readonly localOnly?: LocalOnly;
  readonly catalog: Readonly<z.output<typeof catalogSchema>>;
  /** Every active value and its source. */
  readonly values: SetValues;
  /** The problem of an invalid managed file. The terminal and the gateway stop; the editor disables all providers. */
  readonly managedProblem?: string;
}
