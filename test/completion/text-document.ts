import type { DocumentText } from '../../src/completion/document/document-text.ts';

/** A document of the workspace. */
export function textDocument(path: string, text: string, languageId = 'typescript', version = 1): DocumentText {
  const lines = text.split('\n');
  return {
    uri: `file:///work/${path}`,
    path,
    languageId,
    version,
    eol: '\n',
    lineCount: lines.length,
    lineAt: (line) => lines[line] ?? '',
  };
}

/** A text with `|` at the caret. */
export function withCaret(path: string, text: string, languageId = 'typescript') {
  const before = text.slice(0, text.indexOf('|')).split('\n');
  const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
  return { document: textDocument(path, text.replace('|', ''), languageId), position };
}
