import { arrayOrEmpty, type JsonObject, nonEmptyString, objectOrEmpty, omit } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import { effortLevels, nearestEffort } from './fit-reasoning.ts';
import type { Rules } from './rules.ts';

/** Where each format has the effort. */
const EFFORT = { responses: 'reasoning', messages: 'output_config' } as const;
const ENCRYPTED = 'reasoning.encrypted_content';

/**
 * The reasoning of a body that the client wrote for this format, for a model that the catalog lists: the nearest effort
 * that the model has, and nothing if it does not reason. Returns the same object if nothing changes.
 */
export function fitOwnEffort(model: Model, rules: Rules, body: JsonObject): JsonObject {
  const { effort: known, endpoint } = model;
  if (known === undefined) return body;
  if (!model.reasoning) return withoutReasoning(body);
  const levels = effortLevels(model, rules) ?? [];
  if (levels.length === 0) return body;
  if (endpoint.format === 'chat-completions') {
    const effort = nearest(body.reasoning_effort, levels);
    return effort === undefined ? body : { ...body, reasoning_effort: effort };
  }
  const field = EFFORT[endpoint.format];
  const holder = objectOrEmpty(body[field]);
  const effort = nearest(holder.effort, levels);
  return effort === undefined ? body : { ...body, [field]: { ...holder, effort } };
}

/** Fields that some models refuse while they reason. */
const SAMPLING = ['temperature', 'top_p', 'logprobs', 'top_logprobs'];

/** Removes parameters that the model refuses while it reasons. Returns the same object if nothing changes. */
export function fitOwnSampling(rules: Rules, body: JsonObject): JsonObject {
  if (rules.sampling === 'always') return body;
  const effort = nonEmptyString(body.reasoning_effort) ?? nonEmptyString(objectOrEmpty(body.reasoning).effort);
  return effort === undefined || effort === 'none' ? body : omit(body, SAMPLING);
}

/** Undefined if the effort is absent or need not change. */
function nearest(value: unknown, levels: readonly string[]): string | undefined {
  const effort = nonEmptyString(value);
  return effort === undefined || levels.includes(effort) ? undefined : nearestEffort(effort, levels);
}

function withoutReasoning(body: JsonObject): JsonObject {
  const fitted = omit(body, ['reasoning_effort', 'reasoning', 'thinking']);
  const include = arrayOrEmpty(fitted.include);
  const rest = include.includes(ENCRYPTED)
    ? { ...fitted, include: include.filter((each) => each !== ENCRYPTED) }
    : fitted;
  const config = objectOrEmpty(rest.output_config);
  return config.effort === undefined ? rest : { ...rest, output_config: omit(config, ['effort']) };
}
