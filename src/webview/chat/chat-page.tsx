import { render } from 'preact';
import { defined } from '../../base/json.ts';
import { attachFile, droppedText, droppedUris } from './attach-media.ts';
import { Composer } from './composer.tsx';
import { ConversationState } from './conversation-state.ts';
import { type ChatHost, connectToChat } from './host-link.ts';
import { codeAction, toggleFold } from './markdown/code-block.ts';
import { drawDiagramsWith } from './markdown/diagram.ts';
import { DrawLater } from './markdown/draw-later.ts';
import { warmUp } from './markdown/markdown-writer.ts';
import { PathLinks } from './markdown/path-links.ts';
import { guardMessageKeys } from './message-keys.ts';
import { type Panel, PanelContext } from './panel.ts';
import { Queue } from './queue.tsx';
import { StatusLine } from './status-line.tsx';
import { WaitingCalls } from './tools/waiting-calls.tsx';
import { TranscriptView } from './transcript/transcript-view.tsx';
import { TypedTexts } from './typed-texts.ts';

function Page({ panel }: { panel: Panel }) {
  return (
    <PanelContext.Provider value={panel}>
      {panel.state.ready.value ? (
        <>
          <TranscriptView />
          <StatusLine />
          <WaitingCalls />
          <Queue />
        </>
      ) : null}
      <Composer />
    </PanelContext.Provider>
  );
}

/** One listener for all links and code buttons, because `MarkdownWriter` creates them outside Preact. */
function listenForClicks(link: ChatHost): void {
  document.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const path = target?.closest<HTMLElement>('.path[data-path]');
    if (path) {
      event.preventDefault();
      link.post({ type: 'open-path', path: path.dataset.path ?? '' });
      return;
    }
    const anchor = target?.closest('a');
    if (anchor) {
      // The host opens links. It checks the scheme and asks before it opens a misleading link.
      event.preventDefault();
      link.post({ type: 'open-link', href: anchor.getAttribute('href') ?? '', shown: anchor.textContent ?? '' });
      return;
    }
    const pressed = target && codeAction(target);
    if (!pressed) return;
    const { action, text, language, file, block } = pressed;
    if (action === 'fold') toggleFold(block);
    if (action === 'copy') link.post({ type: 'copy', text });
    if (action === 'insert' || action === 'diff' || action === 'new-file' || action === 'terminal') {
      link.post({ type: 'code', action, text, language, ...(file === '' ? {} : { file }) });
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.target instanceof HTMLElement) || !event.target.matches('.path')) return;
    event.preventDefault();
    event.target.click();
  });
}

function listenForDrops(link: ChatHost, state: ConversationState): void {
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => {
    const data = event.dataTransfer;
    if (!data) return;
    const uris = droppedUris(data);
    const files = [...data.files];
    // The browser inserts text and links into a field, at the place where they are dropped.
    if (uris.length === 0 && files.length === 0 && event.target instanceof HTMLTextAreaElement) return;
    event.preventDefault();
    if (uris.length > 0) link.post({ type: 'attach-uris', uris });
    // Images of a web page have a file besides their address.
    else if (files.length > 0) for (const file of files) void attachFile(file, link);
    else if (droppedText(data) !== '') link.post({ type: 'draft', text: state.addToDraft(droppedText(data)) });
  });
}

/**
 * Makes the first field of the page (`page-document.ts`), into which the user may have typed, the input of the composer:
 * Preact takes the element over without its attributes, so that the caret and a composition stay.
 */
function takeFirstField({ draft, early }: ConversationState): void {
  const field = document.querySelector('textarea');
  if (!field) return;
  window.onfocus = null;
  field.onkeydown = null;
  draft.value = field.value;
  early.text = field.value;
  early.send = field.dataset.entered === field.value;
}

const link = connectToChat();
const state = new ConversationState(() => link.post({ type: 'resync' }));
link.listen((message) => state.receive(message));
state.session.subscribe((session) => {
  if (session !== '') link.remember({ session });
});
state.planning.value = link.memory.planning ?? false;
state.planning.subscribe((planning) => link.remember({ planning }));
const paths = new PathLinks(link);
drawDiagramsWith(() => {
  link.post({ type: 'load-diagram-script' });
  return new Promise((resolve) => state.diagramScript.subscribe((text) => text !== undefined && resolve(text)));
});
state.foundPaths.subscribe((answer) => answer && paths.receive(answer.paths, answer.found));
listenForClicks(link);
listenForDrops(link, state);
guardMessageKeys();
takeFirstField(state);
const typed = new TypedTexts(link, () => state.session.value);
render(<Page panel={{ link, state, drawing: new DrawLater(), paths, typed }} />, document.body);
const { session } = link.memory;
link.post({ type: 'ready', ...defined({ session }) });
// Runs while the host reads the conversation.
warmUp();
