import type * as z from 'zod';
import { nodeAt, type ObjectTree, replaceNodes, type Tree, toPlainValue, unescapedKey } from '../settings/tree.ts';

/** A section with the defaults of its schema, also where it is missing. */
export function parseSection<T extends z.ZodType>(schema: T, node: Tree | undefined): z.output<T> {
  return node?.type === 'object' ? parseValidPart(schema, node) : schema.parse({});
}

/**
 * The valid part of a section with the defaults of its schema. Each source was checked before (validate.ts), so only
 * unknown keys are left out, and values that are not valid beside those of another source. It cannot fail.
 */
function parseValidPart<T extends z.ZodType>(schema: T, section: ObjectTree): z.output<T> {
  const { success, data, error } = schema.safeParse(toPlainValue(section));
  if (success) return data;
  const invalid = error.issues.flatMap(({ path, ...issue }) => {
    const names = path.map(unescapedKey);
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...names, unescapedKey(key)]);
    // Where a member is missing, its object is left out.
    return [nodeAt(section, names) === undefined ? names.slice(0, -1) : names];
  });
  const rest = replaceNodes(
    section,
    invalid.map((path) => ({ path, node: undefined })),
  );
  return parseValidPart(schema, invalid.some((path) => path.length === 0) ? { ...section, entries: new Map() } : rest);
}
