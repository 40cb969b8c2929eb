import type { ChatSession } from '../../../chat/session/session.ts';
import { workspaceFile } from '../tools/workspace-path.ts';
import type { Proposals, ProposedFile } from './proposals.ts';

/**
 * Shows the changes of a tool call that waits for a decision. Accept and Reject of the diff editor answer the call.
 * Closes the diff editor when the call was answered in the panel, or was stopped.
 */
export async function viewCall(session: ChatSession, call: string, proposals: Proposals): Promise<void> {
  const waiting = session.waitingCall(call);
  const changes = waiting?.changes?.filter(({ change }) => change.kind !== 'rename') ?? [];
  const files: ProposedFile[] = [];
  for (const { change, after } of changes) files.push({ target: (await workspaceFile(change.path)).uri, after });
  if (session.waitingCall(call) !== waiting || files.length === 0) return;
  const id = `${session.id} ${call}`;
  const following = session.onPatch(() => {
    if (session.waitingCall(call) === waiting) return;
    following.dispose();
    void proposals.close(id);
  });
  await proposals.show(id, files, {
    accept: () => void session.decide(call, { type: 'once' }),
    reject: () => void session.decide(call, { type: 'deny', reason: '' }),
  });
}
