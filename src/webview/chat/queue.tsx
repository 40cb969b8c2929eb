import { IconButton } from '../shared/icon.tsx';
import { t } from '../shared/words.ts';
import { Chips } from './chips.tsx';
import { usePanel } from './panel.ts';

/** The messages that wait until the answer reaches its next tool call or its end. */
export function Queue() {
  const { link, state } = usePanel();
  const messages = state.queue.value;
  if (messages.length === 0) return null;
  return (
    <section class="queue" aria-label={t('Queued messages')}>
      <p class="hint">{state.running.value ? t('Sent at the next step of the answer') : t('Not sent yet')}</p>
      <ul>
        {messages.map(({ id, text, attachments }) => (
          <li key={id}>
            <div class="queued">
              {attachments.length > 0 ? <Chips attachments={attachments} /> : null}
              <span class="plain" dir="auto" title={text}>
                {text}
              </span>
            </div>
            <IconButton
              icon="edit"
              name={t('Edit queued message')}
              onClick={() => link.post({ type: 'queue-edit', message: id })}
            />
            <IconButton
              icon="send"
              name={t('Send now')}
              title={t('Send now and stop the running answer')}
              onClick={() => link.post({ type: 'queue-send', message: id })}
            />
            <IconButton
              icon="trash"
              name={t('Remove from the queue')}
              onClick={() => link.post({ type: 'queue-remove', message: id })}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}
