/** Colours and cursor movements (ECMA-48), which are of no use to a model. */
// biome-ignore lint/complexity/useRegexLiterals: a literal would contain the control characters themselves
const CONTROL = new RegExp(
  '\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|[@-Z\\\\-_])|\\u0007',
  'g',
);

/** The output as visible in the terminal: only the last version of a line that was overwritten. */
export function plainOutput(raw: string): string {
  return raw
    .replace(CONTROL, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n')
    .trimEnd();
}
