import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import type * as z from 'zod';
import { ApiError, type Call, type Endpoint, endpointUrl } from './admin-api.ts';
import { useAdmin } from './admin-context.ts';

/** The known part of an answer. While it is loaded again, the last value stays. */
export interface Answer<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly loading: boolean;
}

/** Calls an endpoint when the call changes, when the connection is back and when the user asks for new data. */
export function useAnswer<S extends z.ZodType>(
  endpoint: Endpoint & { readonly answer: S },
  call: Call = {},
): Answer<z.infer<S>> {
  const { api } = useAdmin();
  const answer = useSignal<Answer<z.infer<S>>>({ value: undefined, error: undefined, loading: true });
  const revision = api.revision.value;
  const url = endpointUrl(endpoint, call);
  // Not after the next frame: until then, the last value would count as the answer to this call.
  useLayoutEffect(() => {
    const abort = new AbortController();
    answer.value = { ...answer.peek(), loading: true };
    api.call(endpoint, { ...call, signal: abort.signal }).then(
      (value) => {
        if (!abort.signal.aborted) answer.value = { value, error: undefined, loading: false };
      },
      (thrown: unknown) => {
        if (abort.signal.aborted) return;
        // A lost connection is shown once for the page, and mended.
        const error = thrown instanceof TypeError && api.lost.peek() ? undefined : describeFailure(thrown);
        answer.value = { value: answer.peek().value, error, loading: error === undefined };
      },
    );
    return () => abort.abort();
  }, [url, revision]);
  return answer.value;
}

/** The gateway's own words, or those of the browser. */
export function describeFailure(thrown: unknown): string {
  if (thrown instanceof ApiError) return thrown.message;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
