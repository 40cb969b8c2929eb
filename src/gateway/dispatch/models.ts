import type { Model } from '../../catalog/model.ts';
import type { Registry } from '../../catalog/registry/registry.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { Pool, Pools } from '../pools/pools.ts';

/** The models of the gateway. Settings and registry are functions because they reload. */
export interface Models {
  readonly settings: () => Settings;
  readonly registry: () => Registry;
  readonly listing: ModelListing;
  readonly pools: Pools;
}

/** The models that endpoints list. They become known after the start. */
export interface ModelListing {
  /** The lists arrived, failed or are overdue. True while they are requested again. */
  readonly wasListed: boolean;
  /** Resolves when no list is being requested, or after a timeout. */
  whenListed(): Promise<void>;
  /** As `whenListed`, for an unknown model. Requests the lists again if they are old. */
  refreshListings(): Promise<void>;
  /** The model with the window that its server has now. A request follows. */
  served(model: Model, signal: AbortSignal): Promise<Model>;
}

/** The properties of a model that the pipeline needs, from the registry or from a special list. */
export type ServedModel = Pick<Model, 'ref' | 'provider' | 'key' | 'id' | 'endpoint' | 'cost'> &
  Partial<Pick<Model, 'limit' | 'options'>>;

/** A model that may answer, with the requested variant. */
export interface Candidate<M extends ServedModel = Model> {
  readonly model: M;
  /** `vendor/model:variant`. */
  readonly variant: string | undefined;
  /** Present if the name is a pool's. Then `model` describes only the common abilities of its members. */
  readonly pool?: Pool<M>;
}
