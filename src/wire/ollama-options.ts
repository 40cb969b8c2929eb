import { type JsonObject, objectOrEmpty, omit } from '../base/json.ts';
import { splitWords } from '../base/split-words.ts';

/** The parameters of a model that Ollama's own API has in `options` (github.com/ollama/ollama, docs/modelfile). */
const PARAMETERS = splitWords(`
  num_ctx num_predict num_keep num_batch num_gpu main_gpu num_thread use_mmap numa seed stop temperature top_k top_p min_p
  typical_p repeat_last_n repeat_penalty presence_penalty frequency_penalty mirostat mirostat_eta mirostat_tau
`);

/** The body with parameters of the model in `options`, where Ollama's own API has them. What is there stays. */
export function withOllamaOptions(body: JsonObject): JsonObject {
  const present = PARAMETERS.filter((name) => Object.hasOwn(body, name));
  if (present.length === 0) return body;
  const moved = present.flatMap((name) =>
    body[name] === null || body[name] === undefined ? [] : [[name, body[name]]],
  );
  return { ...omit(body, present), options: { ...Object.fromEntries(moved), ...objectOrEmpty(body.options) } };
}
