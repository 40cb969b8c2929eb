import { requestJson } from '../../src/base/json.ts';
import type { Format } from '../../src/wire/format.ts';
import { repairBody } from '../../src/wire/tools/body-repair.ts';
import { ANTHROPIC_IDS, repairConversation } from '../../src/wire/tools/tool-call-repair.ts';
import { FORMAT_LIST } from './format-pairs.ts';

export type Body = Record<string, unknown>;

/** A request with these messages or items. */
export function bodyOf(format: Format, items: unknown[]): Body {
  return { model: 'm', max_tokens: 9, [format.name === 'responses' ? 'input' : 'messages']: items };
}

/** Reads and writes a request like the gateway, in the same format and translated. */
export function carry(format: Format, body: Body): void {
  repairBody(format.name, body, { ids: ANTHROPIC_IDS, callArguments: 'object' });
  const conversation = repairConversation(format.readRequest(body));
  for (const { writeRequest } of FORMAT_LIST) requestJson(writeRequest(conversation));
}
