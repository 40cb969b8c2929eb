import { signal } from '@preact/signals';
import type { ToPage } from '../../chat/page-messages.ts';
import { applyPatch, type Message, type ModelLabel } from '../../chat/transcript.ts';

/** What the page shows. The host owns it: this is a copy that follows the host's messages. */
export const messages = signal<readonly Message[]>([]);
export const running = signal(false);
export const model = signal<ModelLabel | null>(null);
export const draft = signal('');
/** False until the first snapshot: nothing is drawn that the next moment would take back. */
export const ready = signal(false);

let session = '';

export function receive(message: ToPage): void {
  switch (message.type) {
    case 'snapshot':
      session = message.session;
      messages.value = message.messages;
      running.value = message.running;
      draft.value = message.draft;
      ready.value = true;
      return;
    case 'patches':
      // A late patch of a conversation that was left.
      if (message.session !== session) return;
      messages.value = message.patches.reduce(applyPatch, messages.value);
      return;
    case 'running':
      if (message.session === session) running.value = message.running;
      return;
    case 'model':
      model.value = message.model;
      return;
  }
}
