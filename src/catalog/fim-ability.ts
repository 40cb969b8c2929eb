import type { FimDialect } from '../wire/fim/fim-request.ts';
import { type Address, MAX_MATCHED_ID } from './address.ts';

/** Model families with FIM tokens, by the names that servers use for them. */
const TEMPLATES: readonly (readonly [RegExp, FimDialect])[] = [
  [/qwen[\w.-]*coder|coder[\w.-]*qwen|codeqwen/i, 'template-qwen'],
  [/codestral/i, 'template-codestral'],
  [/deepseek[\w.-]*coder/i, 'template-deepseek'],
  [/starcoder/i, 'template-starcoder'],
  [/codellama|code-llama/i, 'template-codellama'],
  [/codegemma/i, 'template-codegemma'],
];

/** The FIM template that the model was trained with, `undefined` if the model isn't known to support FIM. */
function findTemplate(model: string): FimDialect | undefined {
  return TEMPLATES.find(([pattern]) => pattern.test(model))?.[1];
}

/** The two model families that a svc-compatible gateway offers for FIM (spec 4.2). */
const GATEWAY_FAMILIES = /codestral(?!.*embed)|mercury/i;

/**
 * The FIM dialect of a model, `undefined` if it isn't known to complete code. A configured dialect is not checked.
 *
 * @param id the model id in upstream requests.
 */
export function fimDialect({ kind, fim, knownFim: known }: Address, id: string): FimDialect | undefined {
  const model = id.slice(0, MAX_MATCHED_ID);
  if (fim !== undefined) return fim;
  switch (known) {
    case 'mistral':
      return /codestral(?!.*embed)/i.test(model) ? known : undefined;
    case 'inception':
      return /mercury/i.test(model) ? known : undefined;
    case 'svc':
      return GATEWAY_FAMILIES.test(model) ? known : undefined;
    case 'deepseek':
      return /reason|vision|-r\d/i.test(model) ? undefined : known;
    case 'ollama-generate':
    case 'llamacpp-infill':
      return findTemplate(model) === undefined ? undefined : known;
    default:
      return kind === 'lmstudio' || kind === 'vllm' ? findTemplate(model) : undefined;
  }
}
