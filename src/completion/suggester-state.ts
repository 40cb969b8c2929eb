import { Emitter } from '../base/emitter.ts';
import type { SvcError } from '../wire/errors/svc-error.ts';
import type { TriggerRefusal } from './trigger/trigger.ts';

/** The state of the engine, shown in the status bar. */
export type SuggesterState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'silent'; readonly why: TriggerRefusal }
  | { readonly kind: 'no-model' }
  /** `needsUser`: only the user can solve the problem. */
  | { readonly kind: 'problem'; readonly error: SvcError; readonly needsUser: boolean }
  | { readonly kind: 'budget-spent'; readonly availableInMs: number };

/** Owns the engine's state. */
export class SuggesterStateOwner {
  readonly #changed = new Emitter<[SuggesterState]>();
  readonly onDidChange = this.#changed.event;
  #current: SuggesterState = { kind: 'ready' };

  get current(): SuggesterState {
    return this.#current;
  }

  become(state: SuggesterState): void {
    const before = this.#current;
    this.#current = state;
    const same = before.kind === state.kind && state.kind !== 'problem' && state.kind !== 'silent';
    if (!same) this.#changed.fire(state);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
