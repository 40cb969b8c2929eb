import type { FromDialog, ToDialog } from '../../config/provider-form/provider-dialog.ts';

interface VsCodeApi {
  postMessage(message: unknown): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

export interface HostLink {
  post(message: FromDialog): void;
  /** Accepts messages of the host only: a frame inside the page must not be able to imitate it. */
  listen(listener: (message: ToDialog) => void): void;
}

export function connectToHost(): HostLink {
  const api = acquireVsCodeApi();
  return {
    post: (message) => api.postMessage(message),
    listen: (listener) =>
      window.addEventListener('message', (event: MessageEvent<ToDialog>) => {
        if (event.origin === window.origin) listener(event.data);
      }),
  };
}
