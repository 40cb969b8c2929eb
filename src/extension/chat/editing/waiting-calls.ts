import * as vscode from 'vscode';
import type { ChatSession } from '../../../chat/session/session.ts';
import type { FromPageOf } from '../../../protocol/chat/from-page.ts';
import { showInformation } from '../../foreign-text.ts';
import type { CallTopic, TopicPage } from '../surface-topic.ts';
import { workspaceFile } from '../tools/workspace-path.ts';
import type { Proposals, ProposedFile } from './proposals.ts';

/** Tool calls that wait for a decision of the user. */
export class WaitingCalls implements CallTopic {
  readonly #proposals: Proposals;

  constructor(proposals: Proposals) {
    this.#proposals = proposals;
  }

  async handle(message: FromPageOf<'decide' | 'preview'>, { conversation: { session } }: TopicPage): Promise<void> {
    const { call } = message;
    const waits =
      message.type === 'decide' ? session.decide(call, message.decision) : session.waitingCall(call) !== undefined;
    if (!waits && !session.running) {
      const text = vscode.l10n.t('This call waits in another window. Answer it there.');
      void showInformation(text);
    } else if (message.type === 'preview') {
      await this.#view(session, call);
    }
  }

  /**
   * Shows the changes of the call. Accept and Reject of the diff editor answer it. Closes the diff editor when the call
   * was answered in the panel, or was stopped.
   */
  async #view(session: ChatSession, call: string): Promise<void> {
    const waiting = session.waitingCall(call);
    const changes = waiting?.changes?.filter(({ change }) => change.kind !== 'rename') ?? [];
    const files: ProposedFile[] = [];
    for (const { change, after } of changes) files.push({ target: (await workspaceFile(change.path)).uri, after });
    if (session.waitingCall(call) !== waiting || files.length === 0) return;
    const id = `${session.id} ${call}`;
    const following = session.onPatch(() => {
      if (session.waitingCall(call) === waiting) return;
      following.dispose();
      void this.#proposals.close(id);
    });
    await this.#proposals.show(id, files, {
      accept: () => void session.decide(call, { type: 'once' }),
      reject: () => void session.decide(call, { type: 'deny', reason: '' }),
    });
  }
}
