import { arrayOrEmpty, type JsonObject, nonEmptyString, objectOrEmpty } from '../../base/json.ts';
import { splitWords } from '../../base/split-words.ts';
import type { AssistantPart, UserPart } from '../conversation.ts';
import { parseMediaUrl } from '../media.ts';

/*
 * Items of OpenAI's own tools in a history that goes to a model of another format. Calls that the vendor answered are
 * left out: the text after them has their result. Tools that the client ran become text.
 */

/** Calls that the vendor answered itself, and items that only its models can read. */
const LEFT_OUT: ReadonlySet<string> = new Set(
  splitWords(`
    web_search_call file_search_call code_interpreter_call image_generation_call tool_search_call mcp_call
    mcp_list_tools mcp_approval_request mcp_approval_response program program_output compaction_trigger
    ghost_snapshot other
  `),
);
/** Tools that the client runs by a protocol of OpenAI: the names of the call and the output in the text. */
const CLIENT_CALLS: ReadonlyMap<string, string> = new Map([
  ['local_shell_call', 'Ran the command'],
  ['shell_call', 'Ran the commands'],
  ['apply_patch_call', 'Changed a file'],
  ['computer_call', 'Used the computer'],
]);

export function isLeftOut({ type }: JsonObject): boolean {
  return LEFT_OUT.has(String(type));
}

/** Names of a compaction, also in older histories of Codex (openai/codex#23785). */
const COMPACTIONS: ReadonlySet<string> = new Set(['compaction', 'compaction_summary', 'context_compaction']);

/** The text for a compaction that only its vendor can read: the model must know that something is missing. */
export const UNREADABLE_COMPACTION =
  '[Earlier messages were compacted by another provider. Their summary can’t be read here.]';

/** The text of a call that the client ran. */
export function readClientCall(item: JsonObject): AssistantPart | undefined {
  const what = CLIENT_CALLS.get(String(item.type));
  if (what === undefined) return undefined;
  const action = item.action ?? item.operation ?? item.actions;
  return { type: 'text', text: `[${what}: ${JSON.stringify(action ?? null)}]` };
}

/** The output of a call that the client ran: text, or the image of a screen. */
export function readClientOutput(item: JsonObject): UserPart | undefined {
  if (COMPACTIONS.has(String(item.type))) return { type: 'text', text: UNREADABLE_COMPACTION };
  const call = String(item.type).replace(/_output$/, '');
  if (call === item.type || !CLIENT_CALLS.has(call)) return undefined;
  const { output } = item;
  const url = nonEmptyString(objectOrEmpty(output).image_url);
  if (url !== undefined) return { type: 'image', media: parseMediaUrl(url) };
  const parts = arrayOrEmpty(output).map((part) => {
    const { stdout, stderr, text } = objectOrEmpty(part);
    return [stdout, stderr, text].filter((each) => typeof each === 'string' && each !== '').join('\n');
  });
  const text = typeof output === 'string' ? output : parts.join('\n') || nonEmptyString(item.status) || 'Done.';
  return { type: 'text', text: `[Output]\n${text}` };
}
