import type { Diagnostic, ProviderSettings, Settings } from './settings.ts';

/** Settings of a running process after a reload. */
export interface Accepted {
  readonly settings: Settings;
  /** Why parts of the new configuration are not used. */
  readonly refused: readonly Diagnostic[];
  /** The new configuration has no provider, so none of it is used. */
  readonly empty: boolean;
}

/**
 * The configuration of a running process while the file has a mistake: a provider, the gateway or the rest stay as they
 * were before the mistake. A mistake that was there at the start does not stop later changes.
 */
export class LastValid {
  readonly #atStart: ReadonlySet<string>;
  #used: Settings;

  constructor(first: Settings) {
    this.#atStart = new Set(mistakesOf(first).map(identity));
    this.#used = first;
  }

  accept(next: Settings): Accepted {
    const before = this.#used;
    // A template that failed, a full disk, or a volume that is not mounted.
    if (before.providers.size > 0 && next.providers.size === 0) {
      return { settings: { ...before, diagnostics: next.diagnostics }, refused: mistakesOf(next), empty: true };
    }
    const refused = mistakesOf(next).filter((error) => !this.#atStart.has(identity(error)));
    this.#used = refused.length === 0 ? next : withoutMistakes(before, next, refused);
    return { settings: this.#used, refused, empty: false };
  }
}

function withoutMistakes(before: Settings, next: Settings, refused: readonly Diagnostic[]): Settings {
  const inProvider = (id: string, key: string) => key === `provider.${id}` || key.startsWith(`provider.${id}.`);
  const isWrong = (id: string) => refused.some(({ key }) => inProvider(id, key));
  const providers = new Map<string, ProviderSettings>();
  for (const [id, provider] of next.providers) providers.set(id, (isWrong(id) && before.providers.get(id)) || provider);
  for (const [id, provider] of before.providers) if (isWrong(id)) providers.set(id, provider);
  const inGateway = refused.some(({ key }) => key === 'gateway' || key.startsWith('gateway.'));
  return { ...next, providers, gateway: inGateway ? before.gateway : next.gateway };
}

/**
 * A variable that is not set takes the key of a provider away, although it is only a warning at the start. A key of the
 * gateway without its variable does not keep the removed ones.
 */
function mistakesOf({ diagnostics }: Settings): readonly Diagnostic[] {
  const takesKey = ({ code, key }: Diagnostic) => code === 'env-not-set' && key.startsWith('provider.');
  return diagnostics.filter((each) => each.severity === 'error' || takesKey(each));
}

/** A line may move while the mistake stays. */
function identity({ path, key, code, message }: Diagnostic): string {
  return [path, key, code, message].join('\n');
}
