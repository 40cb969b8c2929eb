import type { FimDialect } from '../wire/fim/fim-request.ts';
import { findTemplate } from '../wire/fim/templates.ts';
import { type Address, MAX_MATCHED_ID } from './address.ts';
import type { Endpoint } from './model.ts';

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
    case 'llamacpp-infill':
      return findTemplate(model) === undefined ? undefined : known;
    default:
      return kind === 'lmstudio' || kind === 'vllm' ? findTemplate(model) : undefined;
  }
}

/** The dialect of requests: the model's, else the default of the kind of its provider. */
export function fimDialectOf({ fim, kind }: Pick<Endpoint, 'fim' | 'kind'>): FimDialect {
  if (fim !== undefined) return fim;
  switch (kind) {
    case 'svc':
    case 'mistral':
    case 'inception':
    case 'deepseek':
      return kind;
    case 'llamacpp':
      return 'llamacpp-infill';
    case 'ollama':
      return 'ollama-generate';
    default:
      return 'openai-completions';
  }
}
