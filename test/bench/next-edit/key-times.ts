import { DEFAULT_COMPLETION_SETTINGS } from '../../../src/completion/document/completion-settings.ts';
import type { DocumentText } from '../../../src/completion/document/document-text.ts';
import { NextEdits } from '../../../src/completion/next-edit/next-edits.ts';
import { VirtualClock } from '../../completion/virtual-clock.ts';

const LINES = 20_000;
const KEYS = 3_000;

/** The 99th percentile of what the engine does for a key in a long document, in milliseconds. */
export async function keyTimes(): Promise<number> {
  const clock = new VirtualClock();
  const engine = new NextEdits({ sources: [], settings: () => DEFAULT_COMPLETION_SETTINGS, clock });
  const lines = Array.from({ length: LINES }, (_, line) => `  const value${line} = compute(${line}, options);`);
  const document: DocumentText = {
    uri: 'file:///work/long.ts',
    path: 'long.ts',
    languageId: 'typescript',
    version: 1,
    eol: '\n',
    get lineCount() {
      return lines.length;
    },
    lineAt: (line) => lines[line] ?? '',
  };
  const times: number[] = [];
  let position = { line: 100, character: lines[100]?.length ?? 0 };
  engine.cursorMoved(document, position, false);
  for (let key = 0; key < KEYS; key++) {
    const text = key % 40 === 39 ? '\n' : 'x';
    const line = lines[position.line] ?? '';
    const [head, tail] = [line.slice(0, position.character), line.slice(position.character)];
    if (text === '\n') lines.splice(position.line, 1, head, tail);
    else lines[position.line] = head + text + tail;
    const change = { uri: document.uri, changes: [{ start: position, end: position, text }] };
    position =
      text === '\n' ? { line: position.line + 1, character: 0 } : { ...position, character: position.character + 1 };
    const from = performance.now();
    engine.documentChanged(change, document);
    engine.cursorMoved(document, position, false);
    times.push(performance.now() - from);
    await clock.pass(120);
  }
  engine.dispose();
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? 0;
}
