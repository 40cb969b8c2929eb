import type { DocumentText, Position } from '../document/document-text.ts';

/** The start of the name of a declaration. */
export interface DeclaredAt extends Position {
  readonly uri: string;
}

/** The project as the editor knows it. */
export interface ProjectReader {
  /**
   * The declarations of a name, or those of its type, from the language. Empty if the language has no provider. Need not
   * settle if its server hangs.
   */
  declarations(uri: string, position: Position, of: 'name' | 'type'): Promise<readonly DeclaredAt[]>;
  /** A file of the workspace that may be sent. `uri` may be a guess. @param languageId if the file is not open. */
  read(uri: string, languageId: string): Promise<DocumentText | undefined>;
  /** Open and recently visited files of the workspace that may be sent, latest first. */
  visited(): Promise<readonly DocumentText[]>;
  /** Milliseconds. */
  now(): number;
}
