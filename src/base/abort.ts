/**
 * Calls `stop` once when the signal fires, or at once if it has fired.
 *
 * @returns a function that removes the listener.
 */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return () => signal.removeEventListener('abort', stop);
}

/** Resolves when the signal fires, or at once if it has fired. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });
}
