import type { FromPage } from '../../chat/page/from-page.ts';
import type { ToPage } from '../../chat/page/page-messages.ts';

interface VsCodeApi {
  postMessage(message: unknown): void;
  setState(state: unknown): void;
  getState(): unknown;
}
declare function acquireVsCodeApi(): VsCodeApi;

export interface HostLink {
  post(message: FromPage): void;
  /** Accepts messages of the host only: a frame inside the page must not be able to imitate it. */
  listen(listener: (message: ToPage) => void): void;
  /** Stores the id of the conversation. VS Code uses it to restore a tab after a restart. */
  remember(session: string): void;
  readonly remembered: string | undefined;
}

export function connectToHost(): HostLink {
  const api = acquireVsCodeApi();
  const state = api.getState();
  const session = typeof state === 'object' && state !== null && 'session' in state ? state.session : undefined;
  return {
    post: (message) => api.postMessage(message),
    listen: (listener) =>
      window.addEventListener('message', (event: MessageEvent<ToPage>) => {
        if (event.origin === window.origin) listener(event.data);
      }),
    remember: (id) => api.setState({ session: id }),
    remembered: typeof session === 'string' ? session : undefined,
  };
}
