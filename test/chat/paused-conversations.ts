import assert from 'node:assert/strict';
import { History } from '../../src/chat/history/history.ts';
import { Conversations } from '../../src/extension/chat/conversations.ts';
import { LABEL, modelAt } from './test-session.ts';

/** Conversations in `folder` whose model sends nothing until `resume` and then answers. */
export function pausedConversations(folder: string, workspace = '') {
  const gate = Promise.withResolvers<void>();
  let id = 0;
  const conversations = new Conversations({
    session: {
      model: () => ({ model: modelAt({ url: 'http://127.0.0.1:1' }), label: LABEL }),
      converse: async function* () {
        await gate.promise;
        yield { type: 'text', part: 0, text: 'Fine.' };
        yield { type: 'finish', reason: 'stop' };
      },
      newId: () => `id${++id}`,
      now: Date.now,
    },
    history: new History(folder),
    workspace,
    onRemove: async () => undefined,
    onError: (what) => assert.fail(what),
  });
  return { conversations, resume: gate.resolve };
}
