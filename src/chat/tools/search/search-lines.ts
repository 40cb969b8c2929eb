import { createContext, Script } from 'node:vm';
import { objectOrEmpty } from '../../../base/json.ts';

/** Only this many characters of a line are searched. */
const MAX_LINE = 2000;
/** Time limit per file. */
const LIMIT_MS = 1000;

/** Returns the indices of matching lines. @throws Error if the pattern is invalid or takes too long. */
export type LineSearch = (lines: readonly string[]) => readonly number[];

/** Searches for a text or a JavaScript regular expression, ignoring case. */
export function lineSearch(query: string, regex: boolean): LineSearch {
  if (regex) return patternSearch(new RegExp(query, 'i'));
  const wanted = query.toLowerCase();
  return (lines) => indices(lines, (line) => line.toLowerCase().includes(wanted));
}

/** Runs the pattern in a `vm` context with a time limit, because endless backtracking would block this process. */
function patternSearch(pattern: RegExp): LineSearch {
  const globals: Record<string, unknown> = { pattern };
  const context = createContext(globals);
  const script = new Script('lines.map((line) => pattern.test(line))');
  return (lines) => {
    globals.lines = lines.map((line) => line.slice(0, MAX_LINE));
    const found = matches(() => script.runInContext(context, { timeout: LIMIT_MS }));
    return indices(lines, (_line, index) => found[index] === true);
  };
}

function matches(run: () => unknown): readonly unknown[] {
  try {
    const found = run();
    return Array.isArray(found) ? found : [];
  } catch (thrown) {
    // The error is from another realm, so `instanceof` does not work.
    if (objectOrEmpty(thrown).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new Error('The pattern takes too long on this workspace. Use a simpler one.');
    }
    throw thrown;
  }
}

function indices(lines: readonly string[], wanted: (line: string, index: number) => boolean): readonly number[] {
  return lines.flatMap((line, index) => (wanted(line, index) ? [index] : []));
}
