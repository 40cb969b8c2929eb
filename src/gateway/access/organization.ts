import { nonEmptyString } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import { matchesModelPattern } from '../../catalog/model-pattern.ts';
import type { Credential } from '../../config/settings/origin.ts';
import type { OrganizationSettings, Settings } from '../../config/settings/settings.ts';
import { invalidRequest, SvcError } from '../../wire/errors/svc-error.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Principal } from './authentication.ts';

const ORGANIZATION_HEADER = 'x-organization-id';

/**
 * The organization of a request: that of its key, or the one that `X-Organization-Id` names.
 * A key acts for its own organization only. Without a key, the header only filters lists.
 *
 * @throws SvcError 400 for an organization that is not configured, 403 for one that the key does not belong to.
 */
export function requestedOrganization(
  context: RequestContext,
  principal: Principal | undefined,
  settings: Settings,
): OrganizationSettings | undefined {
  const own = principal?.organization;
  const id = namedOrganization(context) ?? own;
  if (id === undefined) return undefined;
  if (principal !== undefined && !principal.operator && id !== own) throw notAMember(id);
  const organization = settings.gateway.organizations.get(id);
  // If the organization of a key was removed from the configuration, its policy must not end with it.
  if (organization === undefined) {
    throw invalidRequest('X-Organization-Id', `There is no organization “${id.slice(0, 100)}” at this gateway.`);
  }
  context.logFields.organization = organization.id;
  return organization;
}

/** The organization that a request names, unchecked. */
export function namedOrganization(context: RequestContext): string | undefined {
  return nonEmptyString(context.header(ORGANIZATION_HEADER)?.trim());
}

/** Whether the policy allows a model. Patterns are exact ids and `vendor/*`; `deny` overrides `allow`. */
export function allows(organization: OrganizationSettings | undefined, ref: string): boolean {
  if (organization === undefined) return true;
  const { allow } = organization.policy;
  if (denies(organization, ref)) return false;
  return allow === undefined || allow.some((pattern) => matchesModelPattern(pattern, ref));
}

/** Whether the policy denies a model by name. The policy that allows a pool allows its other members. */
export function denies(organization: OrganizationSettings | undefined, ref: string): boolean {
  return organization?.policy.deny.some((pattern) => matchesModelPattern(pattern, ref)) === true;
}

/** @throws SvcError 403 model_not_allowed (spec 5.4). */
export function requireAllowed(organization: OrganizationSettings | undefined, ref: string): void {
  if (!allows(organization, ref)) throw notAllowed(organization, ref);
}

export function notAllowed(organization: OrganizationSettings | undefined, ref: string): SvcError {
  return new SvcError({
    errorType: 'model_not_allowed',
    message: `The model ${ref} is not allowed for your team (${organization?.name}).`,
    action: 'Choose another model, or ask an administrator of the organization to change its model policy.',
    param: 'model',
  });
}

/**
 * The credential step: undefined for the gateway's own credential, else the organization's (BYOK).
 *
 * @throws SvcError 503 credential_withheld.
 */
export function credentialFor(
  organization: OrganizationSettings | undefined,
  model: Pick<Model, 'provider' | 'endpoint' | 'key'>,
  settings: Settings,
): Credential | undefined {
  const credential = organizationCredential(organization, model, settings);
  const { withheld } = model.endpoint;
  if (withheld === undefined) return credential;
  throw new SvcError({
    errorType: 'credential_withheld',
    message: `A project’s configuration sends this model’s requests to ${withheld.to}; the key belongs to ${withheld.from} and is withheld.`,
    action: 'Start the gateway elsewhere, or set the address in the global svc.jsonc.',
  });
}

/**
 * The organization's own key for a model's provider. It comes from trusted configuration, so it is sent
 * only to the address that trusted configuration alone defines.
 *
 * @throws SvcError 503 credential_withheld.
 */
function organizationCredential(
  organization: OrganizationSettings | undefined,
  model: Pick<Model, 'provider' | 'endpoint' | 'key'>,
  settings: Settings,
): Credential | undefined {
  const credential = organization?.byok.get(model.provider);
  if (credential === undefined) return undefined;
  const provider = settings.providers.get(model.provider);
  if (provider?.trust === 'untrusted' || (provider?.trust === 'mixed' && isMoved(provider, model.key))) {
    throw new SvcError({
      errorType: 'credential_withheld',
      message: `The organization’s key for ${model.provider} is withheld: a project’s configuration changes the provider’s address.`,
      action: 'Start the gateway elsewhere, or set the address in the global svc.jsonc.',
      provider: model.provider,
    });
  }
  return credential;
}

type ProviderEntry = NonNullable<ReturnType<Settings['providers']['get']>>;

/** Whether untrusted configuration changes the destination of the provider's requests. */
function isMoved(provider: ProviderEntry, key: string): boolean {
  const { trusted } = provider;
  if (trusted === undefined) return true;
  const place = (entry: ProviderEntry) => {
    const own = entry.models.get(key)?.provider;
    const values = [entry.baseURL, entry.fimURL, entry.resourceName, entry.npm, entry.api, own?.api, own?.npm];
    return JSON.stringify([...values.map((located) => located?.value ?? null), [...entry.headers.keys()].sort()]);
  };
  return place(provider) !== place(trusted);
}

function notAMember(id: string): SvcError {
  return new SvcError({
    errorType: 'model_not_allowed',
    message: `This key does not belong to the organization “${id.slice(0, 100)}”.`,
    action: 'Use a key of that organization: svc keys create --org.',
  });
}
