import type { FromPage, ToPage } from '../../chat/page-messages.ts';

interface VsCodeApi {
  postMessage(message: unknown): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

export interface HostLink {
  post(message: FromPage): void;
  /** Messages of the host alone: a frame inside the page must not speak for it. */
  listen(listener: (message: ToPage) => void): void;
}

export function connectToHost(): HostLink {
  const api = acquireVsCodeApi();
  return {
    post: (message) => api.postMessage(message),
    listen: (listener) =>
      window.addEventListener('message', (event: MessageEvent<ToPage>) => {
        if (event.origin === window.origin) listener(event.data);
      }),
  };
}
