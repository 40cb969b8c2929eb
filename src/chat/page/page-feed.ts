import { attachmentChip } from '../attachment.ts';
import type { ChatSession } from '../session/session.ts';
import { joinPatches, type Message, type Patch, type Transcript } from '../transcript.ts';
import type { ToPage } from './page-messages.ts';

/** A person sees at most one change a frame; more messages than that only cost time. */
const FRAME_MS = 16;

/**
 * Feeds one page with one session. Steps are gathered and sent once a frame, neighbouring appends joined: a fast
 * stream is a few messages a second, not thousands. Bytes, texts of attachments and seals stay in the host.
 */
export class PageFeed {
  readonly #session: ChatSession;
  readonly #post: (message: ToPage) => void;
  readonly #following: { dispose(): void };
  #waiting: Patch[] = [];
  /** Number of the last step that was sent or that a sent snapshot holds; undefined: the page has nothing yet. */
  #sent: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: ChatSession, post: (message: ToPage) => void) {
    this.#session = session;
    this.#post = post;
    this.#following = session.onPatch((patch) => this.#push(patch));
  }

  dispose(): void {
    this.#following.dispose();
    clearTimeout(this.#timer);
  }

  /** Sends the whole conversation; the steps after it follow. */
  snapshot(): void {
    this.#drop();
    const { id, seq, transcript } = this.#session;
    this.#sent = seq;
    this.#post({ type: 'snapshot', session: id, seq, transcript: transcriptForPage(transcript) });
  }

  /** Sends what waits. */
  flush(): void {
    const patches = this.#waiting;
    const from = this.#sent;
    this.#drop();
    if (patches.length === 0 || from === undefined) return;
    const { id, seq } = this.#session;
    this.#sent = seq;
    this.#post({ type: 'patches', session: id, from, seq, patches });
  }

  #push(patch: Patch): void {
    if (this.#sent === undefined) return;
    const shown = patchForPage(patch);
    const last = this.#waiting.at(-1);
    const joined = last && joinPatches(last, shown);
    if (joined) this.#waiting[this.#waiting.length - 1] = joined;
    else this.#waiting.push(shown);
    this.#timer ??= setTimeout(() => this.flush(), FRAME_MS);
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
  }
}

/** A seal may be all that there is of a part: the page gets the part, not the seal. */
function patchForPage(patch: Patch): Patch {
  if (patch.type === 'add') return { type: 'add', message: messageForPage(patch.message) };
  if (patch.type !== 'seal') return patch;
  return { type: 'append', message: patch.message, part: patch.part, kind: 'reasoning', text: '' };
}

export function transcriptForPage(transcript: Transcript): Transcript {
  return { ...transcript, messages: transcript.messages.map(messageForPage) };
}

function messageForPage(message: Message): Message {
  const { attachments, ...rest } = message;
  const parts = message.parts.map((part) => {
    if (part.type !== 'reasoning' || part.seals === undefined) return part;
    const { seals: _, ...shown } = part;
    return shown;
  });
  return { ...rest, parts, ...(attachments === undefined ? {} : { attachments: attachments.map(attachmentChip) }) };
}
