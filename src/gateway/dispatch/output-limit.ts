import { finiteNumber, type JsonObject, objectOrEmpty } from '../../base/json.ts';
import type { FormatName } from '../../wire/format-name.ts';

/** The fields that limit the output. Those of other formats have no effect. */
const FIELDS: Readonly<Record<FormatName, readonly string[]>> = {
  'chat-completions': ['max_completion_tokens', 'max_tokens'],
  responses: ['max_output_tokens'],
  messages: ['max_tokens'],
};

/** The least that Messages accepts as `budget_tokens`. */
const LEAST_THINKING = 1024;

/**
 * The maximum of output tokens of all answers (`n`); undefined if the client does not limit them. Providers differ in
 * which of two fields counts, so the larger one does.
 * @param format absent: the body is none of the three formats.
 */
export function outputLimit(body: JsonObject, format: FormatName | undefined): number | undefined {
  const fields = format === undefined ? ['max_tokens'] : FIELDS[format];
  const limits = fields.flatMap((field) => finiteNumber(body[field]) ?? []);
  if (limits.length === 0) return undefined;
  const most = Math.max(0, ...limits);
  const thinking = thinkingTokens(body);
  // As the translation to Messages does, whose limit includes thinking.
  const each = thinking >= most ? most + thinking : most;
  return each * Math.max(1, finiteNumber(body.n) ?? 1);
}

function thinkingTokens({ reasoning, reasoning_effort, thinking }: JsonObject): number {
  const asked = [reasoning, reasoning_effort, thinking].some((value) => value !== undefined && value !== null);
  if (!asked) return 0;
  const chosen = [objectOrEmpty(reasoning).max_tokens, objectOrEmpty(thinking).budget_tokens];
  return Math.max(LEAST_THINKING, ...chosen.flatMap((value) => finiteNumber(value) ?? []));
}
