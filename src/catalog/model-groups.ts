import { defined } from '../base/json.ts';
import type { Model, Provider } from './model.ts';
import type { Registry } from './registry/registry.ts';
import { largerWindow } from './served-window.ts';

/** The models under one heading of a list. */
export interface ModelGroup {
  readonly of: 'pinned' | 'recent' | Provider;
  readonly models: readonly Model[];
}

export interface GroupedModels {
  readonly registry: Registry | undefined;
  readonly isEligible: (model: Model) => boolean;
  /** References, in the order in which they were pinned. */
  readonly pinned: readonly string[];
  /** References, the last used first. */
  readonly recent: readonly string[];
}

const MAX_RECENT = 4;

/**
 * The pinned models, the recently used ones, then the others by provider. Each model is in one group. Empty groups are
 * omitted.
 */
export function modelGroups({ registry, isEligible, pinned, recent }: GroupedModels): readonly ModelGroup[] {
  const known = (refs: readonly string[]) =>
    refs.flatMap((ref) => registry?.find(ref) ?? []).filter((model) => isEligible(model));
  const top = known(pinned);
  const last = known(recent.filter((ref) => !pinned.includes(ref))).slice(0, MAX_RECENT);
  const above = new Set([...top, ...last]);
  const providers = [...(registry?.providers.values() ?? [])].map((provider) => ({
    of: provider,
    models: [...provider.models.values()].filter((model) => isEligible(model) && !above.has(model)),
  }));
  const groups: ModelGroup[] = [{ of: 'pinned', models: top }, { of: 'recent', models: last }, ...providers];
  return groups.filter(({ models }) => models.length > 0);
}

/** A property of a model that helps the user choose one. */
export type ModelFact =
  /** Tokens. */
  | {
      readonly kind: 'context';
      readonly tokens: number;
      /** The window that the model was trained for, if the server has less, and how the user gets it. */
      readonly trained?: number;
      readonly command?: string;
    }
  /** USD per million tokens. */
  | { readonly kind: 'price'; readonly input: number; readonly output: number }
  | { readonly kind: 'free' | 'images' | 'pdf' | 'tools' | 'reasoning' | 'completions' | 'next-edits' }
  /** The host that receives the user's text. */
  | { readonly kind: 'destination'; readonly host: string };

/** Context size, price, abilities and destination host. Unknown properties are omitted. */
export function modelFacts(model: Model): ModelFact[] {
  const { limit, cost, toolCall, reasoning, modalities, fim, edit, endpoint } = model;
  const base = (fim ? endpoint.fimURL : undefined) ?? endpoint.baseURL;
  const facts: (ModelFact | false | undefined)[] = [
    limit.context > 0 && { kind: 'context', tokens: limit.context, ...reducedWindow(model) },
    cost && (cost.input === 0 && cost.output === 0 ? { kind: 'free' } : { kind: 'price', ...pair(cost) }),
    modalities.input.includes('image') && { kind: 'images' },
    modalities.input.includes('pdf') && { kind: 'pdf' },
    toolCall && { kind: 'tools' },
    reasoning && { kind: 'reasoning' },
    fim && { kind: 'completions' },
    edit !== undefined && { kind: 'next-edits' },
    base !== undefined && URL.canParse(base) && { kind: 'destination', host: new URL(base).host },
  ];
  return facts.filter((fact) => fact !== false && fact !== undefined);
}

/** The part of a model's window that its server leaves unused. */
function reducedWindow(model: Model) {
  const { trained = 0, context = 0 } = model.served ?? {};
  return trained > context ? defined({ trained, command: largerWindow(model) }) : {};
}

function pair({ input, output }: NonNullable<Model['cost']>) {
  return { input, output };
}

/** The choices for a model: without a variant first, then its variants by name. */
export function variantChoices(model: Model, current: string | undefined) {
  return [undefined, ...model.variants.keys()].map((name) => ({ name, current: name === current }));
}
