import type { FimDialect } from '../wire/fim/fim-request.ts';
import { type Address, MAX_MATCHED_ID } from './address.ts';

/** Model families with FIM tokens, by the names that servers use for them. */
const FAMILIES: readonly (readonly [RegExp, FimDialect])[] = [
  [/qwen[\w.-]*coder|coder[\w.-]*qwen/i, 'template-qwen'],
  // Mamba Codestral has no FIM tokens (mistralai/mamba-codestral-7B-v0.1, discussion 2).
  [/^(?!.*(?:mamba|embed)).*codestral/i, 'template-codestral'],
  [/deepseek[\w.-]*coder/i, 'template-deepseek'],
  [/starcoder-?2/i, 'template-starcoder2'],
  // CodeQwen1.5 has other tokens than Qwen2.5-Coder (QwenLM/Qwen3-Coder#99).
  [/starcoder|stable-?code|granite[\w.-]*code|codeqwen/i, 'template-starcoder'],
  [/codellama|code-llama/i, 'template-codellama'],
  [/codegemma/i, 'template-codegemma'],
  [/seed-?coder/i, 'template-seed-coder'],
  [/mellum/i, 'template-mellum'],
  [/granite-?(?:3\.3|[4-9])/i, 'template-granite'],
  // Those that see images have a v after the number.
  [/\bglm-?[4-9](?![\d.]*v)/i, 'template-glm'],
];

/** The FIM template that the model was trained with, `undefined` if the model isn't known to support FIM. */
export function findTemplate(model: string): FimDialect | undefined {
  const name = model.slice(0, MAX_MATCHED_ID);
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1];
}

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
    case 'svc':
      // The two model families that a svc-compatible gateway offers for FIM (spec 4.2).
      if (findTemplate(model) === 'template-codestral') return known;
      return known === 'svc' && /mercury/i.test(model) ? known : undefined;
    case 'inception':
      return /mercury/i.test(model) ? known : undefined;
    case 'deepseek':
      return /reason|vision|-r\d/i.test(model) ? undefined : known;
    case 'ollama-generate':
      // Ollama has templates only for the models of its library, and none with files.
      return findTemplate(model);
    case 'llamacpp-infill':
      return findTemplate(model) === undefined ? undefined : known;
    default:
      return kind === 'lmstudio' || kind === 'vllm' ? findTemplate(model) : undefined;
  }
}
