import { isObject } from '../../base/json.ts';
import type { Message, Part } from '../transcript.ts';

/** More files do not change which instructions hold. */
const MAX_PATHS = 200;

/** Paths of the files that a conversation is about, in their order: attachments, and the files of tool calls. */
export function namedPaths(messages: readonly Message[]): readonly string[] {
  const paths = new Set<string>();
  for (const { attachments = [], parts } of messages) {
    for (const { detail } of attachments) if (detail !== undefined) paths.add(detail.replace(/:\d+-\d+$/, ''));
    for (const path of parts.flatMap(calledFor)) paths.add(path);
  }
  return [...paths].slice(0, MAX_PATHS);
}

function calledFor(part: Part): readonly string[] {
  if (part.type !== 'tool' || part.state.type !== 'done') return [];
  try {
    const input: unknown = JSON.parse(part.text);
    return isObject(input) && typeof input.path === 'string' ? [input.path] : [];
  } catch {
    return [];
  }
}
