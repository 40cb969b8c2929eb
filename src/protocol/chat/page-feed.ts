import { attachmentChip } from '../../chat/attachment.ts';
import type { ChatSession } from '../../chat/session/session.ts';
import { joinPatches, type Message, type Patch, type Transcript } from '../../chat/transcript.ts';
import type { ToPage } from './page-messages.ts';

/** At most one change per frame is visible, so more messages would only cost time. */
const FRAME_MS = 16;

/**
 * Sends the patches of one session to one page, once per frame and with adjacent appends joined: a fast stream causes
 * a few messages per second, not thousands. Bytes and texts of attachments, and signatures, stay in the host.
 */
export class PageFeed {
  readonly #session: ChatSession;
  readonly #post: (message: ToPage) => void;
  readonly #following: { dispose(): void };
  #waiting: Patch[] = [];
  /** Number of the last patch that was sent, also as part of a snapshot; undefined: nothing was sent yet. */
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

  /** Sends the whole conversation. Later patches follow. */
  snapshot(): void {
    this.#drop();
    const { id, seq, transcript } = this.#session;
    this.#sent = seq;
    this.#post({ type: 'snapshot', session: id, seq, transcript: transcriptForPage(transcript) });
  }

  /** Sends the collected patches. */
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

/** A part may consist only of a signature: the page receives the part without it. */
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
