import { useLayoutEffect, useRef } from 'preact/hooks';
import { MarkdownWriter } from './markdown-writer.ts';
import { usePanel } from './panel.ts';
import { showControls } from './safe-html.ts';

interface Writing {
  readonly writer: MarkdownWriter;
  written: string;
  ended: boolean;
}

/**
 * The body of an answer: written by `MarkdownWriter`, outside of Preact's tree. `later`: it is far from what is looked
 * at; its source stands there, for find and screen readers, until it is drawn.
 */
export function Markdown({ text, whole, later = false }: { text: string; whole: boolean; later?: boolean }) {
  const { drawing } = usePanel();
  const body = useRef<HTMLDivElement>(null);
  const writing = useRef<Writing | null>(null);
  useLayoutEffect(() => {
    const root = body.current;
    if (!root) return undefined;
    if (!later || !whole || writing.current) {
      writing.current = write(root, writing.current, text, whole);
      return undefined;
    }
    root.textContent = showControls(text);
    root.classList.add('source');
    return drawing.add(root, () => {
      writing.current = write(root, null, text, true);
    });
    // `later` changes as the conversation grows; that is no reason to begin anew.
  }, [text, whole]);
  return <div class="markdown" ref={body} />;
}

function write(root: HTMLElement, before: Writing | null, text: string, whole: boolean): Writing {
  let current = before;
  // A text that does not go on from what is written is another text.
  if (!current || current.ended || !text.startsWith(current.written)) {
    if (current?.ended && current.written === text) return current;
    root.replaceChildren();
    root.classList.remove('source');
    current = { writer: new MarkdownWriter(root), written: '', ended: false };
  }
  const fresh = text.slice(current.written.length);
  current.written = text;
  if (fresh !== '') current.writer.append(fresh);
  if (whole && !current.ended) {
    current.ended = true;
    current.writer.end();
  }
  return current;
}
