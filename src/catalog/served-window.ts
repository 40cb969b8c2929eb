import type { Model, ServedWindow } from './model.ts';
import { chosenWindow } from './ollama-model.ts';

/** Asks servers for the windows of their models. Never rejects: a window that a server does not tell is unknown. */
export interface WindowReader {
  /** Whether the model's server may tell its window. */
  mayTell(model: Model): boolean;
  /** The windows by reference, when models are listed. */
  readAll(models: readonly Model[], signal: AbortSignal): Promise<ReadonlyMap<string, ServedWindow>>;
  /** The window for a request that follows. A server that knows only the windows of loaded models loads the model. */
  read(model: Model, signal: AbortSignal): Promise<ServedWindow | undefined>;
  /** Resolves when a server that loads models on demand has the model, or can't load it. The signal ends only the wait. */
  load(model: Model, signal: AbortSignal): Promise<void>;
  /** A request to the model failed: what is known of its load may be outdated. */
  failed(model: Model): void;
}

/** The model with the window that its server has. A smaller limit of the configuration stays. */
export function withServedWindow(model: Model, window: ServedWindow): Model {
  const own = model.served?.own ?? model.limit;
  const { input, ...limit } = own;
  const context = own.context > 0 ? Math.min(own.context, window.context) : window.context;
  const kept = input !== undefined && input <= context ? { input } : {};
  return { ...model, limit: { ...limit, context, ...kept }, served: { ...window, own } };
}

/** How the user gives a model a larger window; `undefined`: it has all that it was trained for, or the way is not known. */
export function largerWindow(model: Model): string | undefined {
  const { id, endpoint, served } = model;
  const { context = 0, trained = 0 } = served ?? {};
  // With `num_ctx` in the options, the server's own window has no effect.
  if (trained <= context || chosenWindow(model) !== undefined) return undefined;
  switch (endpoint.kind) {
    case 'ollama':
      return `OLLAMA_CONTEXT_LENGTH=${trained} ollama serve`;
    case 'llamacpp':
      return `llama-server --ctx-size ${trained}`;
    case 'lmstudio':
      return `lms load ${id} --context-length ${trained}`;
    case 'vllm':
      return `vllm serve ${id} --max-model-len ${trained}`;
    default:
      return undefined;
  }
}
