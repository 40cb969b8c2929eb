import { createContext, Script } from 'node:vm';
import { objectOrEmpty } from '../../../base/json.ts';

/** Only this many characters of a line are searched. */
const MAX_LINE = 2000;
/** Time limit per file. */
const LIMIT_MS = 1000;

/** A matching line. */
export interface LineMatch {
  /** Index of the line. */
  readonly line: number;
  /** Index of the first character of the match in the line. */
  readonly at: number;
}

/** Finds the matching lines. @throws Error if the pattern is invalid or takes too long. */
export type LineSearch = (lines: readonly string[]) => readonly LineMatch[];

/** Searches for a text or a JavaScript regular expression, ignoring case. */
export function lineSearch(query: string, regex: boolean): LineSearch {
  if (regex) return patternSearch(new RegExp(query, 'i'));
  const wanted = query.toLowerCase();
  return (lines) => found(lines.map((line) => line.toLowerCase().indexOf(wanted)));
}

/** Runs the pattern in a `vm` context with a time limit, because endless backtracking would block this process. */
function patternSearch(pattern: RegExp): LineSearch {
  const globals: Record<string, unknown> = { pattern };
  const context = createContext(globals);
  const script = new Script('lines.map((line) => line.search(pattern))');
  return (lines) => {
    globals.lines = lines.map((line) => line.slice(0, MAX_LINE));
    return found(matches(() => script.runInContext(context, { timeout: LIMIT_MS })));
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

/** @param places the index of the match in each line, or -1. */
function found(places: readonly unknown[]): readonly LineMatch[] {
  return places.flatMap((at, line) => (typeof at === 'number' && at >= 0 ? [{ line, at }] : []));
}
