import type { FromPage } from '../../chat/page/from-page.ts';
import type { ToPage } from '../../chat/page/page-messages.ts';

interface VsCodeApi {
  postMessage(message: unknown): void;
  setState(state: unknown): void;
  getState(): unknown;
}
declare function acquireVsCodeApi(): VsCodeApi;

/** What VS Code keeps for the page: it ends a page that is hidden, and restores tabs after a restart. */
export interface PageMemory {
  /** Id of the conversation. The host reads it too, to restore a tab. */
  readonly session?: string;
  /** Plan mode is on. */
  readonly planning?: boolean;
  /** See `TypedTexts`. */
  readonly typed?: Readonly<Record<string, string>>;
}

export interface HostLink {
  post(message: FromPage): void;
  /** Accepts messages of the host only: a frame inside the page must not be able to imitate it. */
  listen(listener: (message: ToPage) => void): void;
  readonly memory: PageMemory;
  remember(change: PageMemory): void;
}

export function connectToHost(): HostLink {
  const api = acquireVsCodeApi();
  const state = api.getState();
  let memory: PageMemory = typeof state === 'object' && state !== null ? state : {};
  return {
    post: (message) => api.postMessage(message),
    listen: (listener) =>
      window.addEventListener('message', (event: MessageEvent<ToPage>) => {
        if (event.origin === window.origin) listener(event.data);
      }),
    get memory() {
      return memory;
    },
    remember: (change) => {
      memory = { ...memory, ...change };
      api.setState(memory);
    },
  };
}
