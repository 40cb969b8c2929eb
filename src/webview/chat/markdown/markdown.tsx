import { useLayoutEffect, useRef } from 'preact/hooks';
import { usePanel } from '../panel.ts';
import { showDiagram } from './code-block.ts';
import { MarkdownWriter, writeWhole } from './markdown-writer.ts';
import { drawMath } from './math.ts';

interface Writing {
  /** Absent if the text was complete from the start. */
  readonly writer?: MarkdownWriter;
  written: string;
  ended: boolean;
}

/** The body of an answer. `MarkdownWriter` writes it outside Preact's tree. */
export function Markdown({ text, whole }: { text: string; whole: boolean }) {
  const body = useRef<HTMLDivElement>(null);
  const writing = useRef<Writing | null>(null);
  const { paths } = usePanel();
  useLayoutEffect(() => {
    const root = body.current;
    if (!root) return;
    writing.current = write(root, writing.current, text, whole);
    if (!whole) return;
    drawMath(root);
    for (const block of root.querySelectorAll<HTMLElement>('.code[data-language=mermaid]')) void showDiagram(block);
    paths.check(root);
  }, [text, whole]);
  return <div class="markdown" ref={body} />;
}

function write(root: HTMLElement, before: Writing | null, text: string, whole: boolean): Writing {
  if (before?.ended && before.written === text) return before;
  // A text that does not start with the written text is a different one: start again.
  const goesOn = before?.writer && !before.ended && text.startsWith(before.written);
  if (!goesOn) root.replaceChildren();
  if (!goesOn && whole) {
    writeWhole(root, text);
    return { written: text, ended: true };
  }
  const writer = (goesOn ? before.writer : undefined) ?? new MarkdownWriter(root);
  const fresh = goesOn ? text.slice(before.written.length) : text;
  if (fresh !== '') writer.append(fresh);
  if (whole) writer.end();
  return { writer, written: text, ended: whole };
}
