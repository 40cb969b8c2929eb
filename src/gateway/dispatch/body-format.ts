import type { JsonObject } from '../../base/json.ts';
import type { FormatName } from '../../wire/format-name.ts';

/**
 * The format of a body. Cursor sends Responses bodies to `/chat/completions`, and reads Chat Completions
 * (gabrii/Cursor-Azure-GPT-5#69, Helicone/helicone#5629).
 *
 * @param format that of the route; absent: none of the three.
 */
export function bodyFormat<F extends FormatName | undefined>(format: F, body: JsonObject): F | 'responses' {
  const isResponses = format === 'chat-completions' && body.messages === undefined && Array.isArray(body.input);
  return isResponses ? 'responses' : format;
}
