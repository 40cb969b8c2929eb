/** A change of a file as bytes. Paths are those of a `FileChange`. */
export type FileOperation =
  | { readonly type: 'write'; readonly path: string; readonly content: Uint8Array }
  | { readonly type: 'rename'; readonly path: string; readonly newPath: string }
  | { readonly type: 'delete'; readonly path: string };

/** Reads and writes the files of the workspace, including unsaved text of the editor. */
export interface Files {
  /** The content as the editor shows it. Undefined: there is no such file. Rejects if it is too large, or a folder. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Applies the operations, changes of texts as one undo step. */
  apply(operations: readonly FileOperation[]): Promise<void>;
}
