import { type Responder, startUpstream, type Upstream } from '../../upstream/upstream.ts';
import { addEvidence, describeRequests } from '../evidence.ts';

/** A simulated provider whose last requests a failed test shows. */
export async function startObservedUpstream(responder?: Responder): Promise<Upstream> {
  const upstream = await startUpstream(responder);
  const removeEvidence = addEvidence(() => ({ 'requests.txt': describeRequests(upstream.requests) }));
  return {
    ...upstream,
    close: async () => {
      removeEvidence();
      await upstream.close();
    },
  };
}
