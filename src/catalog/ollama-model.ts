import { objectOrEmpty, tokenCount } from '../base/json.ts';
import type { Model } from './model.ts';

type OllamaModel = Pick<Model, 'endpoint' | 'options'>;

/** Options of a model that only Ollama's own API has. */
const OWN_OPTIONS = ['num_ctx', 'keep_alive', 'options'];

/** Whether conversations go to Ollama's own API: `/v1` ignores these options. */
export function usesOllamaChat({ endpoint, options }: OllamaModel): boolean {
  const isOllama = endpoint.kind === 'ollama' && endpoint.format === 'chat-completions';
  return isOllama && OWN_OPTIONS.some((name) => Object.hasOwn(options, name));
}

/** The window with which Ollama loads the model for each request of it. */
export function chosenWindow(model: OllamaModel): number | undefined {
  if (!usesOllamaChat(model)) return undefined;
  const { num_ctx: top, options } = model.options;
  return tokenCount(objectOrEmpty(options).num_ctx) || tokenCount(top) || undefined;
}
