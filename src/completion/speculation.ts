import type { CompletionModel, CompletionSettings } from './completion-settings.ts';

/** Share of generated text accepted of late from which on asking ahead pays for itself. */
const PAYS_FROM = 0.6;

/**
 * Whether the request for the state after acceptance may go out while a suggestion is on screen.
 * When it is accepted, that request costs nothing extra: it would have been sent anyway. So where
 * it has a price, it goes out only to a person who accepts most of what they get.
 */
export function maySpeculate(
  setting: CompletionSettings['speculation'],
  model: CompletionModel,
  level: 'normal' | 'slow' | 'stop',
  acceptance: number,
): boolean {
  if (setting === 'off' || level !== 'normal') return false;
  if (setting === 'on') return true;
  const free = model.cost !== undefined && model.cost.input === 0 && model.cost.output === 0;
  return free || acceptance >= PAYS_FROM;
}
