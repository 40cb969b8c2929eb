/** Colours and cursor movements (ECMA-48), which mean nothing to a model. */
// biome-ignore lint/complexity/useRegexLiterals: a literal would hold the control characters themselves
const CONTROL = new RegExp(
  '\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|[@-Z\\\\-_])|\\u0007',
  'g',
);

/** What a terminal printed as a person reads it: of a line that was written over, what it said last. */
export function plainOutput(raw: string): string {
  return raw
    .replace(CONTROL, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n')
    .trimEnd();
}
