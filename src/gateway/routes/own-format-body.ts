import { defined, type JsonObject, omit } from '../../base/json.ts';
import type { Endpoint, Model } from '../../catalog/model.ts';
import type { Credential } from '../../config/settings/origin.ts';
import { fitChatBody } from '../../provider/profile/fit-chat-body.ts';
import { fitMessagesBody } from '../../provider/profile/fit-messages-body.ts';
import { fitOwnEffort, fitOwnSampling, fitOwnThinking } from '../../provider/profile/fit-own-effort.ts';
import { fitOwnLimit } from '../../provider/profile/fit-own-limit.ts';
import { fitOwnTools } from '../../provider/profile/fit-own-tools.ts';
import { rulesOf } from '../../provider/profile/profiles.ts';
import { type UpstreamTarget, upstreamTarget } from '../../provider/upstream-target.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { issuerName } from '../../wire/packed-reasoning.ts';
import { type RepairedBody, repairBody } from '../../wire/tools/body-repair.ts';
import type { Caller } from '../dispatch/caller.ts';
import type { RequestContext } from '../http/request-context.ts';

/** The issuer of the upstream's reasoning. An organization's own credential is an account of its own. */
export function issuerOf(
  { provider }: Pick<Model, 'provider'>,
  { organization }: Caller,
  byok: Credential | undefined,
): string {
  return issuerName(provider, byok === undefined ? '' : (organization?.id ?? ''));
}

/** Headers that enable features of a format. The fields that they allow are in the body. */
const FORWARDED: Readonly<Record<FormatName, readonly string[]>> = {
  'chat-completions': [],
  responses: ['openai-beta'],
  messages: ['anthropic-beta', 'anthropic-version'],
};

/** Where a client's body for an upstream of the same format goes, with the headers that belong to the body. */
export function ownFormatTarget(
  context: RequestContext,
  endpoint: Endpoint,
  { path, format }: { readonly path: string; readonly format: FormatName },
  byok: Credential | undefined,
): UpstreamTarget {
  const target = upstreamTarget(endpoint, path, format, byok?.secret.reveal());
  const named = FORWARDED[format].map((name) => [name, context.header(name)] as const);
  const sent = named.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...target, headers: { ...target.headers, ...Object.fromEntries(sent) } };
}

/**
 * A client's body for an upstream of the same format: with repaired tool calls, without foreign reasoning and without
 * parts that the vendor refuses. The body is the same object if nothing changes.
 */
export function fitOwnFormat(model: Model, body: JsonObject, issuer: string): RepairedBody {
  const { format } = model.endpoint;
  const rules = rulesOf(model);
  const repaired = repairBody(format, body, defined({ ...rules, issuer }));
  // A model that refuses `temperature` does not get it in any format.
  const cooled = model.temperature ? repaired.body : omit(repaired.body, ['temperature']);
  const limited = fitOwnLimit(model, cooled);
  const thinking = format === 'messages' ? fitOwnThinking(model, rules, limited) : limited;
  const reasoned = fitOwnSampling(rules, fitOwnEffort(model, rules, thinking));
  const fitted = format === 'messages' ? fitMessagesBody(rules, reasoned) : fitChatBody(model, rules, reasoned, 'own');
  return { body: fitOwnTools(format, rules, fitted), changes: repaired.changes };
}
