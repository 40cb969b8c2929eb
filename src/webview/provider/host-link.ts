import type { FromDialog, ToDialog } from '../../config/provider-form/provider-dialog.ts';

interface VsCodeApi {
  postMessage(message: unknown): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();

export function post(message: FromDialog): void {
  api.postMessage(message);
}

/** Messages of the host alone: a frame inside the page must not speak for it. */
export function listen(listener: (message: ToDialog) => void): void {
  window.addEventListener('message', (event: MessageEvent<ToDialog>) => {
    if (event.origin === window.origin) listener(event.data);
  });
}
