import type { Model } from '../catalog/model.ts';
import { optionalKey } from './authentication.ts';
import type { GatewayParts } from './parts.ts';
import type { Route } from './router.ts';

/** `GET /models` (spec 2.3, 4.2.5): a key is optional. */
export function modelsRoute(parts: GatewayParts): Route {
  return {
    method: 'GET',
    path: '/models',
    handle: (exchange) => {
      optionalKey(exchange, parts.keys);
      const data = [...parts.registry().models.values()].map(modelItem);
      exchange.sendJson(200, { object: 'list', data });
    },
  };
}

/** A model as the list names it; the fields beyond the spec's are those of OpenAI's and OpenRouter's lists. */
export function modelItem(model: Model): Record<string, unknown> {
  const { limit, cost, modalities } = model;
  return {
    id: model.ref,
    object: 'model',
    created: model.releaseDate ? Math.floor(Date.parse(model.releaseDate) / 1000) || 0 : 0,
    owned_by: model.provider,
    name: model.name,
    context_length: limit.context,
    pricing: {
      prompt: perToken(cost?.input),
      completion: perToken(cost?.output),
      ...(cost?.cacheRead === undefined ? {} : { input_cache_read: perToken(cost.cacheRead) }),
      ...(cost?.cacheWrite === undefined ? {} : { input_cache_write: perToken(cost.cacheWrite) }),
    },
    architecture: { input_modalities: modalities.input, output_modalities: modalities.output },
    supported_parameters: supportedParameters(model),
    top_provider: { context_length: limit.context, max_completion_tokens: limit.output },
  };
}

/** USD per million tokens as USD per token: a decimal string without an exponent. */
function perToken(perMillion: number | undefined): string {
  const text = ((perMillion ?? 0) / 1_000_000).toFixed(15).replace(/\.?0+$/, '');
  return text === '' ? '0' : text;
}

function supportedParameters(model: Model): string[] {
  return [
    ...['max_tokens', 'stop', 'top_p', 'seed', 'response_format'],
    ...(model.temperature ? ['temperature'] : []),
    ...(model.toolCall ? ['tools', 'tool_choice', 'parallel_tool_calls'] : []),
    ...(model.reasoning ? ['reasoning', 'reasoning_effort'] : []),
    ...(model.structuredOutput ? ['structured_outputs'] : []),
  ];
}
