interface VsCodeApi {
  postMessage(message: unknown): void;
  setState(state: unknown): void;
  getState(): unknown;
}
declare function acquireVsCodeApi(): VsCodeApi;

/** The connection of a page in VS Code with its host. */
export interface HostLink<Sent, Received> {
  post(message: Sent): void;
  /** Accepts messages of the host only: a frame inside the page must not be able to imitate it. */
  listen(listener: (message: Received) => void): void;
  /** The state that VS Code keeps for the page. It ends a page that is hidden, and restores tabs after a restart. */
  state: unknown;
}

export function connectToHost<Sent, Received>(): HostLink<Sent, Received> {
  const api = acquireVsCodeApi();
  return {
    post: (message) => api.postMessage(message),
    listen: (listener) =>
      window.addEventListener('message', (event: MessageEvent<Received>) => {
        if (event.origin === window.origin) listener(event.data);
      }),
    get state() {
      return api.getState();
    },
    set state(state) {
      api.setState(state);
    },
  };
}
