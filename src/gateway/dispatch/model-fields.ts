import { arrayOrEmpty, isObject, type JsonObject } from '../../base/json.ts';
import { splitWords } from '../../base/split-words.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import type { JsonBody } from '../http/request-body.ts';

/**
 * Members that select another model, provider or address than `model` at some upstreams and proxies: OpenRouter
 * (`models`, `route`, `preset`, `plugins`), Anthropic (`fallbacks`), Vercel (`providerOptions`), LiteLLM (`api_base`,
 * `custom_llm_provider`, `user_config`, …), Groq (`compound_custom`), Azure (`engine`, `deployment`).
 */
const SELECTORS: ReadonlySet<string> = new Set([
  ...splitWords(`
    route router preset plugins provideroptions engine deployment deploymentid deploymentname modelid modelname
    modellist apibase baseurl apikey customllmprovider userconfig litellmparams extrabody compoundcustom adapterid
    agentid
  `),
]);

/** OpenRouter's rules to choose between hosts of the same model (openrouter.ai/docs, "Provider Routing"). */
const ROUTING: ReadonlySet<string> = new Set([
  ...splitWords(`
    order only ignore sort allow_fallbacks require_parameters data_collection zdr quantizations max_price
    preferred_min_throughput preferred_max_latency enforce_distillable_text
  `),
]);

/** Members that select no model, with any content: content, schemas and labels of the client, plain parameters. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...splitWords(`
    stream stream_options max_tokens max_completion_tokens max_output_tokens temperature top_p stop n seed store
    include tool_choice parallel_tool_calls reasoning_effort reasoning thinking cache_control encoding_format
    dimensions messages system instructions prompt suffix prediction metadata user functions response_format text
    output_config chat_template_kwargs mcp_servers input_audio logit_bias
  `),
]);

/**
 * Refuses a request that names a model in another field than `model`, because policy, budget and price are checked for
 * that model. A top-level `null` selects nothing.
 *
 * @throws SvcError 400 unsupported_field that names the field.
 */
export function refuseOtherModels(body: JsonObject): void {
  for (const name in body) {
    const value = body[name];
    if (name === 'model' || HARMLESS.has(name) || value === null) continue;
    const folded = fold(name);
    if (folded === 'provider') checkRouting(name, value);
    else if (isSelector(folded)) throw choosesModel(name);
    else if (folded === 'tools') checkTools(name, value);
    else if (folded === 'input') checkInput(name, value);
    else checkNested(name, value);
  }
}

/**
 * A body of Messages without the models that Anthropic tries if one refuses to answer: Claude Code and SDKs send them
 * with each request (Wei-Shaw/sub2api#6454). Returns the same body if it names none.
 */
export function withoutFallbacks(body: JsonBody): JsonBody {
  const { fallbacks, ...value } = body.value;
  if (fallbacks === undefined || fallbacks === null) return body;
  const text = JSON.stringify(value);
  return { bytes: Buffer.from(text), text, value };
}

/** As `refuseOtherModels`, for the name of a form's field. @throws SvcError 400. */
export function refuseOtherModel(field: string): void {
  const folded = fold(field);
  if (folded === 'provider' || folded === 'model' || isSelector(folded)) throw choosesModel(field);
}

/**
 * Whether a body has duplicate members among those that were checked. The check sees the last value, but the upstream's
 * parser may take the first. Such a body must be serialised again from the checked value.
 */
export function mustBeRewritten(text: string, body: JsonObject): boolean {
  const tools = text.indexOf('"tools"');
  if (tools >= 0 && text.indexOf('"tools"', tools + 1) >= 0) return true;
  for (const name in body) {
    if (name === 'model' || name === 'tools' || HARMLESS.has(name)) continue;
    const folded = fold(name);
    if (folded === 'provider' || folded === 'tools' || isSelector(folded)) return true;
  }
  return false;
}

/** Lower-case letters only: some parsers ignore case (Go), some treat `a_b` and `aB` as the same name (protobuf). */
function fold(name: string): string {
  // Parsers that fold case treat U+017F as s.
  return name
    .slice(0, 100)
    .toUpperCase()
    .toLowerCase()
    .replace(/[^a-z]/g, '');
}

function isSelector(folded: string): boolean {
  return /models?$|fallback/.test(folded) || SELECTORS.has(folded);
}

function checkRouting(name: string, value: unknown): void {
  if (!isObject(value)) throw choosesModel(name);
  for (const member in value) if (!ROUTING.has(member)) throw choosesModel(`${name}.${member}`);
}

/** Skips functions of the client: a property in their schemas may be named `model`. Other tools run at the vendor. */
function checkTools(path: string, tools: unknown): void {
  for (const [index, tool] of arrayOrEmpty(tools).entries()) {
    if (!isObject(tool)) continue;
    const own = `${path}.${index}`;
    const { type } = tool;
    const ours = type === undefined || type === null || type === 'function' || type === 'custom';
    for (const name in tool) {
      if (isSelector(fold(name))) throw choosesModel(`${own}.${name}`);
      if (name === 'tools') checkTools(`${own}.tools`, tool.tools);
      else if (!ours) checkNested(`${own}.${name}`, tool[name]);
    }
  }
}

/** Input items of Responses may contain further tools. */
function checkInput(path: string, input: unknown): void {
  for (const [index, item] of arrayOrEmpty(input).entries()) {
    if (isObject(item) && Array.isArray(item.tools)) checkTools(`${path}.${index}.tools`, item.tools);
  }
}

/** Not recursive, because the client determines the depth of the body. */
function checkNested(path: string, value: unknown): void {
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === 'object' && item !== null) open.push(item);
    } else if (isObject(next)) {
      for (const name in next) {
        if (isSelector(fold(name))) throw choosesModel(`${path}.${name}`);
        const inner = next[name];
        if (typeof inner === 'object' && inner !== null) open.push(inner);
      }
    }
  }
}

function choosesModel(field: string): SvcError {
  const name = field.slice(0, 200);
  return new SvcError({
    errorType: 'unsupported_field',
    message: `\`${name}\` can select another model or provider than \`model\`. This gateway refuses it.`,
    action: 'Remove it. To try other models, set gateway.fallback in svc.jsonc.',
    param: name,
  });
}
