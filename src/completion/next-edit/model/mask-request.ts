import type { EditRequest, RecentEdit } from '../../../wire/edit/edit-request.ts';
import { redact } from '../../prompt/redact.ts';

/**
 * The request with stand-ins of the same length for secrets.
 *
 * @param secrets stand-in -> secret. New ones are added.
 */
export function maskRequest(request: EditRequest, secrets: Map<string, string>): EditRequest {
  const mask = (text: string) => redact(text, secrets).text;
  const { before, region, after } = request;
  // As one text, so that a secret that begins before the region is found too.
  const file = mask(before + region + after);
  const end = before.length + region.length;
  return {
    ...request,
    before: file.slice(0, before.length),
    region: file.slice(before.length, end),
    after: file.slice(end),
    ...(request.original === undefined ? {} : { original: mask(request.original) }),
    edits: request.edits.map((edit) => maskEdit(edit, mask)),
    snippets: request.snippets.map(({ path, text }) => ({ path, text: mask(text) })),
  };
}

function maskEdit(edit: RecentEdit, mask: (text: string) => string): RecentEdit {
  return { ...edit, diff: mask(edit.diff), original: mask(edit.original), updated: mask(edit.updated) };
}
