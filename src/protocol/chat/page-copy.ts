import { applyPatch, EMPTY_TRANSCRIPT, type Transcript } from '../../chat/transcript.ts';
import type { ToPage } from './page-messages.ts';

/** A page's copy of a conversation. */
export interface PageCopy {
  readonly session: string;
  readonly seq: number;
  readonly transcript: Transcript;
}

export const NO_COPY: PageCopy = { session: '', seq: 0, transcript: EMPTY_TRANSCRIPT };

/**
 * The copy after a message of the host. Patches of another conversation and known patches change nothing. After a
 * gap the result is `undefined`: the page must request a snapshot.
 */
export function takeFromHost(copy: PageCopy, message: ToPage): PageCopy | undefined {
  switch (message.type) {
    case 'snapshot':
      return { session: message.session, seq: message.seq, transcript: message.transcript };
    case 'patches':
      if (message.session !== copy.session || message.seq <= copy.seq) return copy;
      if (message.from !== copy.seq) return undefined;
      return { ...copy, seq: message.seq, transcript: message.patches.reduce(applyPatch, copy.transcript) };
    default:
      return copy;
  }
}
