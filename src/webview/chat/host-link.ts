import type { FromPage } from '../../protocol/chat/from-page.ts';
import type { ToPage } from '../../protocol/chat/page-messages.ts';
import { connectToHost, type HostLink } from '../shared/host-link.ts';

/** The state that VS Code keeps for the page. */
export interface PageMemory {
  /** Id of the conversation. The host reads it too, to restore a tab. */
  readonly session?: string;
  /** Plan mode is on. */
  readonly planning?: boolean;
  /** See `TypedTexts`. */
  readonly typed?: Readonly<Record<string, string>>;
}

export interface ChatHost extends Pick<HostLink<FromPage, ToPage>, 'post' | 'listen'> {
  readonly memory: PageMemory;
  remember(change: PageMemory): void;
}

export function connectToChat(): ChatHost {
  const link = connectToHost<FromPage, ToPage>();
  const { state } = link;
  let memory: PageMemory = typeof state === 'object' && state !== null ? state : {};
  return {
    post: link.post,
    listen: link.listen,
    get memory() {
      return memory;
    },
    remember: (change) => {
      memory = { ...memory, ...change };
      link.state = memory;
    },
  };
}
