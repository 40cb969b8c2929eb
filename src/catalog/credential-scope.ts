import type { Credential, Source } from '../config/settings/origin.ts';
import type { Secret } from '../config/settings/secret.ts';
import { revealOptions } from '../config/settings/secret.ts';
import type { ProviderSettings } from '../config/settings/settings.ts';
import { type Address, addressOrigin } from './address.ts';

/** A key that the user entered in a dialog or with `svc keys`. */
export interface StoredProviderKey {
  readonly secret: Secret;
  /** `https://host[:port]` that the key was entered for. Absent: any address from trusted sources. */
  readonly origin?: string | undefined;
}

/** The user's answers to "this project wants to send your key to …": `originDecisionKey` -> allowed. */
export type OriginDecisions = ReadonlyMap<string, boolean>;

/** The key of one decision. A decision applies only to this workspace, provider and exact origin. */
export function originDecisionKey(workspace: string, provider: string, origin: string): string {
  return JSON.stringify([workspace, provider, origin]);
}

export interface WithheldCredentials {
  readonly from: string;
  readonly to: string;
}

/** The credentials that a request to an address may contain. */
export interface ReleasedCredentials {
  readonly apiKey?: Credential | undefined;
  readonly headers: ReadonlyMap<string, Credential>;
  readonly withheld?: WithheldCredentials | undefined;
}

export interface CredentialRequest {
  readonly id: string;
  /** The address of the requests. */
  readonly address: Address;
  /** The address from trusted sources only. Absent: no trusted source has this provider. */
  readonly trusted: Address | undefined;
  readonly provider: ProviderSettings | undefined;
  readonly headers: ReadonlyMap<string, Credential>;
  readonly stored: StoredProviderKey | undefined;
  readonly envKey: Credential | undefined;
  readonly allowed: (origin: string) => boolean;
}

const STORED: Source = { kind: 'built-in', path: 'the key store of VS Code', trusted: true, status: 'loaded' };

/**
 * Decides which credentials are sent (docs/configuration.md, "Credentials belong to an origin"). Credentials from a
 * trusted source are not sent to an address that only an untrusted source sets.
 */
export function releaseCredentials(question: CredentialRequest): ReleasedCredentials {
  const { provider, address, stored } = question;
  const targets = origins(address);
  const home = question.trusted === address ? targets : origins(question.trusted);
  const foreignTarget = targets.find((target) => !home.includes(target) && !question.allowed(target));
  let withheldFrom: string | undefined;
  const mayTravel = (credential: Credential) => {
    if (!credential.trusted || foreignTarget === undefined) return true;
    withheldFrom ??= home[0] ?? 'an address that you configure';
    return false;
  };
  // Same origin: send all headers.
  const headers =
    foreignTarget === undefined
      ? question.headers
      : new Map([...question.headers].filter(([, credential]) => mayTravel(credential)));
  const written = provider?.apiKey;
  let apiKey = written !== undefined && mayTravel(written) ? written : undefined;
  let to = foreignTarget;
  if (written === undefined && stored !== undefined) {
    const bound = stored.origin === undefined ? home : boundTo(stored.origin, home);
    const foreign = targets.find((target) => !bound.includes(target) && !question.allowed(target));
    if (foreign === undefined) {
      apiKey = { secret: stored.secret, trusted: true, origin: { source: STORED, line: 1, column: 1 } };
    } else {
      to = foreign;
      withheldFrom ??= bound[0] ?? 'an address that you configure';
    }
  } else if (written === undefined && question.envKey !== undefined && mayTravel(question.envKey)) {
    apiKey = question.envKey;
  }
  return {
    apiKey,
    headers,
    withheld: withheldFrom === undefined || to === undefined ? undefined : { from: withheldFrom, to },
  };
}

/**
 * The origins that may receive a stored key. A key for one trusted origin of a provider is valid for its other trusted
 * origins, such as the FIM base URL.
 */
function boundTo(origin: string, home: readonly string[]): readonly string[] {
  const exact = addressOrigin(origin) ?? origin;
  return home.includes(exact) ? home : [exact];
}

function origins(address: Address | undefined): readonly string[] {
  const found = [addressOrigin(address?.baseURL), addressOrigin(address?.fimURL)];
  return found.filter((origin) => origin !== undefined);
}

/** The free-form options for an address. If credentials are withheld, values from trusted references are removed. */
export function releasedOptions(
  options: Readonly<Record<string, unknown>>,
  withheld: WithheldCredentials | undefined,
): Readonly<Record<string, unknown>> {
  return withheld === undefined ? options : revealOptions(options, false);
}

/** Like `releasedOptions`, for the fields of each variant. */
export function releasedVariants(
  variants: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
  withheld: WithheldCredentials | undefined,
): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  if (withheld === undefined) return variants;
  return new Map([...variants].map(([name, fields]) => [name, releasedOptions(fields, withheld)]));
}
