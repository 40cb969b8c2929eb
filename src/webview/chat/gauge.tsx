import { t } from '../shared/words.ts';
import { priceText, tokensText } from './figures.ts';
import { usePanel } from './panel.ts';

/** Shows the used part of the context window and the cost. Shows nothing if the limit is unknown (spec 8). */
export function Gauge() {
  const { state } = usePanel();
  const usable = state.model.value?.usable;
  const used = state.context.value;
  const price = state.price.value;
  if (used === 0 && price === undefined) return null;
  const share = usable === undefined ? undefined : Math.min(1, used / usable);
  const title =
    usable === undefined
      ? t('{0} tokens in use', tokensText(used))
      : t('{0} of {1} tokens in use; beyond that the history is summarized', tokensText(used), tokensText(usable));
  return (
    <span class="gauge" title={title}>
      {price === undefined ? null : <span class="figures price">{priceText(price)}</span>}
      {used === 0 ? null : <span class="figures long">{t('{0} tokens', tokensText(used))}</span>}
      {used === 0 ? null : <span class="figures short">{tokensText(used)}</span>}
      {share === undefined || used === 0 ? null : (
        <svg class={share > 0.85 ? 'meter high' : 'meter'} viewBox="0 0 16 16" role="img" aria-label={title}>
          <circle class="track" cx="8" cy="8" r="6" />
          <circle class="value" cx="8" cy="8" r="6" pathLength="100" stroke-dasharray={`${share * 100} 100`} />
        </svg>
      )}
    </span>
  );
}
