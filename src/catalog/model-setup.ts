/** Whether the user has a model, and if not, why. */
export type ModelSetup =
  /** The configuration or a list of models is being read. */
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready' }
  /** A project changes the address of a provider, so its key is withheld and it has no models. */
  | { readonly kind: 'withheld'; readonly provider: ProviderName }
  /** A provider is configured, but its models could not be listed. */
  | { readonly kind: 'unlisted'; readonly provider: ProviderName; readonly reason: string }
  | { readonly kind: 'none' };

export interface ProviderName {
  readonly id: string;
  readonly name: string;
}

export interface Listings {
  /** True if all requested lists have arrived or failed. */
  readonly listed: boolean;
  /** Reasons for lists that could not be read, by provider id. */
  readonly failed: ReadonlyMap<string, string>;
}

/** The part of the registry that decides. */
interface Available {
  readonly models: { readonly size: number };
  readonly providers: ReadonlyMap<string, ProviderName & { readonly withheld?: unknown }>;
}

/** @param registry absent: the configuration has not been read yet. */
export function modelSetup(registry: Available | undefined, { listed, failed }: Listings): ModelSetup {
  if (registry === undefined) return { kind: 'loading' };
  if (registry.models.size > 0) return { kind: 'ready' };
  const providers = [...registry.providers.values()];
  const withheld = providers.find((provider) => provider.withheld !== undefined);
  if (withheld) return { kind: 'withheld', provider: providerName(withheld) };
  for (const provider of providers) {
    const reason = failed.get(provider.id);
    if (reason !== undefined) return { kind: 'unlisted', provider: providerName(provider), reason };
  }
  return listed ? { kind: 'none' } : { kind: 'loading' };
}

function providerName({ id, name }: ProviderName): ProviderName {
  return { id, name };
}
