import type { ModelCost, ServedPrices } from '../config/settings/configured-model.ts';

interface VendorPrices {
  readonly served?: Readonly<Record<string, ServedPrices>>;
  readonly fees?: Readonly<Record<string, number>>;
}

const HALF = { factor: 0.5 };

const OPENAI: VendorPrices = {
  served: { flex: HALF, batch: HALF, priority: { factor: 2 } },
  fees: { web_search: 0.01, file_search: 0.0025, code_interpreter: 0.03, image_token: 0.00004 },
};

/**
 * Fees of vendors for all of their models that the catalog does not list, by provider id. Prices of a model in the
 * catalog or the configuration override it.
 *
 * - OpenAI and Azure ("Pricing", "Flex processing", "Priority processing"): flex and batch cost half. Priority costs at
 *   most twice the standard price; the catalog has the exact prices of some models. A web search costs 10 USD per 1,000, a
 *   file search 2.50 USD per 1,000, a container for code 0.03 USD for each gigabyte of its memory, an image that
 *   a tool makes at most 40 USD per million tokens.
 * - Anthropic ("Pricing"): batches cost half; data that stays in the US costs 1.1 times; a web search costs 10 USD per
 *   1,000. Fast mode is in the catalog. A committed capacity (`priority`) has no price for each token.
 * - xAI ("Pricing", "Tools pricing") and Perplexity ("Pricing") report the cost with the fees. These prices are for
 *   answers without it.
 * - Google ("Gemini Developer API pricing"): flex and batch cost half, priority 1.8 times.
 */
const VENDOR_PRICES: ReadonlyMap<string, VendorPrices> = new Map<string, VendorPrices>([
  ['openai', OPENAI],
  ['azure', OPENAI],
  ['anthropic', { served: { batch: HALF, us: { factor: 1.1 } }, fees: { web_search: 0.01 } }],
  [
    'xai',
    {
      fees: {
        web_search: 0.005,
        x_search: 0.005,
        code_interpreter: 0.005,
        file_search: 0.0025,
        attachment_search: 0.01,
      },
    },
  ],
  ['perplexity', { fees: { web_search: 0.005 } }],
  ['google', { served: { flex: HALF, batch: HALF, priority: { factor: 1.8 } } }],
]);

/** The prices of a model with the general ones of its vendor. */
export function withVendorPrices(provider: string, cost: ModelCost): ModelCost {
  const vendor = VENDOR_PRICES.get(provider);
  if (vendor === undefined) return cost;
  const { served, fees } = vendor;
  return {
    ...cost,
    ...(served === undefined ? {} : { served: { ...served, ...cost.served } }),
    ...(fees === undefined ? {} : { fees: { ...fees, ...cost.fees } }),
  };
}
