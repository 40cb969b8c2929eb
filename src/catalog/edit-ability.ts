import { EDIT_DIALECTS, type EditDialect } from '../wire/edit/edit-request.ts';
import { type Address, MAX_MATCHED_ID } from './address.ts';

/** Models that were trained for next edits, by the names that servers use for them. The first match counts. */
const TRAINED: readonly (readonly [RegExp, EditDialect])[] = [
  [/sweep-next-edit-v2/i, 'sweep-2'],
  [/sweep-next-edit/i, 'sweep-1'],
  [/(?:^|[/:])zeta-?2[._-]1/i, 'zeta-2.1'],
  [/(?:^|[/:])zeta-?2(?![\w])/i, 'zeta-2'],
  [/(?:^|[/:])zeta(?:-?1)?(?![\w-])/i, 'zeta-1'],
];

/**
 * The format for next edits of a model, `undefined` if it isn't known to predict edits. A configured format is not
 * checked. `chat-patch` is only used if it is configured, because a chat model is slower and costs more.
 *
 * @param id the model id in upstream requests.
 */
export function editDialect(
  { kind }: Pick<Address, 'kind'>,
  configured: string | undefined,
  id: string,
): EditDialect | undefined {
  const named = EDIT_DIALECTS.find((dialect) => dialect === configured);
  if (named !== undefined) return named;
  const model = id.slice(0, MAX_MATCHED_ID);
  if (/mercury-(?:edit|coder)/i.test(model) && (kind === 'inception' || kind === 'svc')) return 'inception-edit';
  return TRAINED.find(([pattern]) => pattern.test(model))?.[1];
}
