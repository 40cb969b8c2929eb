import type { DocumentText, Position } from '../document/document-text.ts';
import type { ExpectedAt } from './code-names.ts';

/** The start of the name of a declaration. */
export interface DeclaredAt extends Position {
  readonly uri: string;
  /** It is in a library (library-signature.ts): the file is no context, but its signatures are public. */
  readonly library?: boolean;
}

/** The project as the editor knows it. */
export interface ProjectReader {
  /**
   * The declarations of a name, or those of its type, from the language. Empty if the language has no provider.
   * `undefined` if its server is too far behind to be asked. Need not settle if it hangs.
   */
  declarations(uri: string, position: Position, of: 'name' | 'type'): Promise<readonly DeclaredAt[] | undefined>;
  /** The signature of a name, from the language. */
  signature(uri: string, position: Position): Promise<string | undefined>;
  /**
   * The language’s expectation at the caret: the signature of the call, the properties of the value that is written, and
   * the members of the value before a dot.
   */
  expected(uri: string, position: Position, at: ExpectedAt): Promise<readonly string[]>;
  /** A file of the workspace that may be sent. `uri` may be a guess. @param languageId if the file is not open. */
  read(uri: string, languageId: string): Promise<DocumentText | undefined>;
  /** Open and recently visited files of the workspace that may be sent, latest first. */
  visited(): Promise<readonly DocumentText[]>;
  /** Milliseconds. */
  now(): number;
}
