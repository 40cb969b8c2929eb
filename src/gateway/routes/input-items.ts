import { isObject, type JsonObject, nonEmptyString, objectOrEmpty, parseJson } from '../../base/json.ts';
import type { AnswerContext } from '../../wire/format.ts';
import { isReference } from '../../wire/responses/read-request.ts';
import type { Caller } from '../dispatch/caller.ts';
import type { Models } from '../dispatch/models.ts';
import { type JsonBody, tooLarge } from '../http/request-body.ts';
import type { KeptItems } from '../state/kept-items.ts';

/** Marks the content of a compaction item that the gateway wrote. */
const SUMMARY_MARK = 'svc:';

export interface RequestBody extends JsonBody {
  /** `value` differs from the client's bytes. */
  readonly changed?: true;
}

/**
 * Replaces the items in the input of a Responses request that only the gateway knows: references to kept items, and
 * compactions that it wrote. Others are left to the upstream. Returns the same object if nothing changes.
 *
 * Each item counts as bytes of the body, because a short reference can name a long item many times.
 *
 * @throws SvcError 413.
 */
export function resolveItems(
  deps: Pick<Models, 'settings'>,
  kept: KeptItems,
  caller: Caller,
  received: JsonBody,
): RequestBody {
  const { bytes, value } = received;
  if (!Array.isArray(value.input)) return received;
  const owner = itemOwner(caller);
  const limit = deps.settings().gateway.maxBodyBytes;
  let length = bytes.length;
  let changed = false;
  const input = value.input.map((item: unknown) => {
    if (!isObject(item)) return item;
    const json = isReference(item) ? kept.find(owner, nonEmptyString(item.id) ?? '') : undefined;
    length += json?.length ?? 0;
    if (length > limit) throw tooLarge(limit);
    const resolved = json === undefined ? item : objectOrEmpty(parseJson(json));
    const final = readCompaction(resolved) ?? resolved;
    changed ||= final !== item;
    return final;
  });
  return changed ? { ...received, value: { ...value, input }, changed: true } : received;
}

/** Keeps the items of an answer unless the client set `store: false`. */
export function itemKeeper(kept: KeptItems, caller: Caller, body: JsonObject): AnswerContext['keepItem'] {
  if (body.store === false) return undefined;
  const owner = itemOwner(caller);
  return (id, json) => kept.keep(owner, id, json);
}

function itemOwner({ principal, organization }: Caller): string {
  return JSON.stringify([principal.name, organization?.id]);
}

/** The content of a compaction item. It is the model's summary, which the client may read. */
export function writeCompactionContent(summary: string): string {
  return SUMMARY_MARK + Buffer.from(summary).toString('base64');
}

/** A compaction that the gateway wrote, as a message that any upstream accepts. */
function readCompaction(item: JsonObject): JsonObject | undefined {
  const content = item.type === 'compaction' ? nonEmptyString(item.encrypted_content) : undefined;
  if (!content?.startsWith(SUMMARY_MARK)) return undefined;
  const summary = Buffer.from(content.slice(SUMMARY_MARK.length), 'base64').toString('utf8');
  const text = `Summary of the conversation so far:\n\n${summary}`;
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
