import type { ModelSettings } from './configured-model.ts';
import type { Rule } from './schema-rules.ts';

/** A text with a `{` in it, which may be a reference, and where in a value it stands. */
export interface BracedText {
  readonly path: readonly string[];
  readonly text: string;
  /** What the text has to fit once its references are replaced; `undefined`: everything does. */
  readonly rule: Rule | undefined;
}

/** What one walk over a value tells. */
export interface Survey {
  readonly braced: readonly BracedText[];
  /** Keys of all objects in it. */
  readonly keys: number;
  /** Something nests deeper than was asked; it was not looked at. */
  readonly tooDeep: boolean;
  /** The rule finds nothing to say, leaving aside what `braced` has to fit. */
  readonly sound: boolean;
  /** Every header goes out by the name that is written. */
  readonly settled: boolean;
  /** Models that were read on the way, by the objects that they are members of: of some all, of some a few. */
  readonly models: ReadonlyMap<object, ReadonlyMap<string, ModelSettings>>;
}
