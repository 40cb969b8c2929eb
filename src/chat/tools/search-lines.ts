import { createContext, Script } from 'node:vm';
import { objectOrEmpty } from '../../base/json.ts';

/** Longer lines are searched in their beginning. */
const MAX_LINE = 2000;
/** Milliseconds for the lines of one file. */
const LIMIT_MS = 1000;

/** Gives the indices of the lines that match. @throws Error for a pattern that is none or takes too long. */
export type LineSearch = (lines: readonly string[]) => readonly number[];

/** Searches for a text, or for a JavaScript regular expression, whatever its case. */
export function lineSearch(query: string, regex: boolean): LineSearch {
  if (regex) return patternSearch(new RegExp(query, 'i'));
  const wanted = query.toLowerCase();
  return (lines) => indices(lines, (line) => line.toLowerCase().includes(wanted));
}

/** A pattern that backtracks for ever would stop everything else in this process: it runs where it can be ended. */
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
    // It is an error of the context's own realm.
    if (objectOrEmpty(thrown).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new Error('The pattern takes too long on this workspace. Use a simpler one.');
    }
    throw thrown;
  }
}

function indices(lines: readonly string[], wanted: (line: string, index: number) => boolean): readonly number[] {
  return lines.flatMap((line, index) => (wanted(line, index) ? [index] : []));
}
