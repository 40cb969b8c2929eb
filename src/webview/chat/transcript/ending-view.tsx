import { useEffect, useState } from 'preact/hooks';
import type { CardAction, ErrorCard } from '../../../chat/message-parts.ts';
import { type Ending, type Message, messageText, type PendingRetry } from '../../../chat/transcript.ts';
import type { FromPage } from '../../../protocol/chat/from-page.ts';
import { retryMessage } from '../../../wire/errors/retry-message.ts';
import type { MessageText } from '../../../wire/errors/svc-error.ts';
import { Icon } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import { showControls } from '../markdown/safe-html.ts';
import { usePanel } from '../panel.ts';

/** Shows how an answer ended, unless it is complete. */
export function EndingView({ message, ending, last }: { message: Message; ending: Ending; last: boolean }) {
  switch (ending.type) {
    case 'stopped':
      return (
        <Note
          icon="debug-stop"
          text={t('Stopped. The received text is kept.')}
          goOn={last && message.parts.length > 0}
        />
      );
    case 'repeating':
      return (
        <Note
          icon="warning"
          warning
          text={t('Stopped: the model called {0} repeatedly without progress.', showControls(ending.tool))}
          goOn={last}
        />
      );
    case 'paused':
      return <Note icon="debug-pause" text={t('{0} steps. Continue?', String(ending.steps))} goOn={last} />;
    case 'failed':
      return <ErrorCardView message={message} error={ending.error} last={last} />;
    case 'finished':
      return <Finished message={message} ending={ending} last={last} />;
  }
}

function Finished(props: { message: Message; ending: Extract<Ending, { type: 'finished' }>; last: boolean }) {
  const { message, ending, last } = props;
  switch (ending.outcome) {
    case 'complete':
      return null;
    case 'incomplete':
      return (
        <Note
          icon="warning"
          warning
          text={t('This answer may be incomplete: the model reached its output limit (limit.output).')}
          goOn={last}
        />
      );
    case 'reasoning-only':
      return (
        <Note
          icon="warning"
          warning
          text={t(
            'The model spent the whole answer on reasoning. Disable reasoning, or raise limit.output for this model.',
          )}
          settings={last}
          again={last}
        />
      );
    case 'empty':
      return <Note icon="warning" warning text={t('The model returned an empty answer.')} again={last} />;
    case 'filtered':
      return <Note icon="warning" warning text={t('The provider’s content filter ended this answer.')} />;
    case 'interrupted': {
      const kept = messageText(message).length;
      return (
        <Note
          icon="debug-disconnect"
          warning
          text={t('The connection closed early. {0} characters were kept.', kept)}
          goOn={last && kept > 0}
          again={last}
        />
      );
    }
  }
}

function Note(props: {
  icon: string;
  text: string;
  warning?: boolean;
  goOn?: boolean;
  again?: boolean;
  settings?: boolean;
}) {
  const { link } = usePanel();
  const { icon, text, warning, goOn, again, settings } = props;
  return (
    <div class={warning ? 'note warning' : 'note'}>
      <Icon name={icon} />
      <span>{text}</span>
      {goOn || again || settings ? (
        <span class="actions">
          {goOn ? (
            <button type="button" class="primary" onClick={() => link.post({ type: 'continue' })}>
              {t('Continue')}
            </button>
          ) : null}
          {settings ? (
            <button type="button" onClick={() => link.post({ type: 'open-settings' })}>
              {t('Open settings')}
            </button>
          ) : null}
          {again ? (
            <button type="button" onClick={() => link.post({ type: 'regenerate' })}>
              {t('Try again')}
            </button>
          ) : null}
        </span>
      ) : null}
    </div>
  );
}

/** Shown while a failed request waits for its next attempt. */
export function RetryView({ retry }: { retry: PendingRetry }) {
  const { link } = usePanel();
  const seconds = useCountdown(retry.at);
  const { template, values } = retryMessage(retry, seconds);
  const useAnother = () => {
    link.post({ type: 'stop' });
    link.post({ type: 'pick-model' });
  };
  return (
    <div class="note warning" role="status">
      <Icon name="sync" />
      <span>{t(template, ...values)}</span>
      <span class="actions">
        <button type="button" onClick={() => link.post({ type: 'stop' })}>
          {t('Stop')}
        </button>
        <button type="button" onClick={useAnother}>
          {t('Use another model')}
        </button>
      </span>
    </div>
  );
}

const ACTIONS: Readonly<Record<CardAction, { readonly label: string; readonly message: FromPage | undefined }>> = {
  'set-key': { label: 'Set the key', message: { type: 'set-key' } },
  'choose-model': { label: 'Choose another model', message: { type: 'pick-model' } },
  'add-provider': { label: 'Add a provider', message: { type: 'add-provider' } },
  'open-settings': { label: 'Open settings', message: { type: 'open-settings' } },
  'review-origin': { label: 'Review the address', message: { type: 'review-origin' } },
  retry: { label: 'Try again', message: { type: 'regenerate' } },
  compact: { label: 'Summarize and try again', message: { type: 'compact-retry' } },
  'show-log': { label: 'Show log', message: { type: 'show-log' } },
  edit: { label: 'Edit the message', message: undefined },
};

/** The button of a card, with the provider if it is known. */
function cardAction(error: ErrorCard): { readonly label: string; readonly message: FromPage | undefined } {
  const { label, message } = ACTIONS[error.action];
  if (error.action !== 'set-key' || error.provider === undefined) return { label: t(label), message };
  const { provider, providerName = provider } = error;
  return { label: t('Set the key of {0}', providerName), message: { type: 'set-key', provider } };
}

/** Without the marks of code, which a card does not render. Characters of a provider that reverse the text are shown. */
function translated(text: MessageText | undefined, english: string): string {
  return showControls(text === undefined ? english : t(text.template, ...text.values)).replaceAll('`', '');
}

function ErrorCardView({ message, error, last }: { message: Message; error: ErrorCard; last: boolean }) {
  const { link } = usePanel();
  const seconds = useCountdown(error.retryAt);
  const action = cardAction(error);
  // Details to copy for a support request, in English as in the log.
  const details = [error.title, error.message, `${error.errorType} (HTTP ${error.status})`, error.provider ?? '']
    .filter(Boolean)
    .join('\n');
  const retries = error.action === 'retry';
  return (
    <section class="card error" role="alert">
      <h2>
        <Icon name="error" /> {t(error.title)}
      </h2>
      <p>{translated(error.text, error.message)}</p>
      {error.advice ? <p>{translated(error.adviceText, error.advice)}</p> : null}
      <div class="actions">
        {last && action.message ? (
          <button
            type="button"
            class="primary"
            disabled={retries && seconds > 0}
            onClick={() => action.message && link.post(action.message)}
          >
            {retries && seconds > 0 ? t('Try again in {0} s', seconds) : action.label}
          </button>
        ) : null}
        {last && !retries ? (
          <button type="button" onClick={() => link.post({ type: 'regenerate' })}>
            {t('Try again')}
          </button>
        ) : null}
        {last && message.parts.length > 0 ? (
          <button type="button" onClick={() => link.post({ type: 'continue' })}>
            {t('Continue')}
          </button>
        ) : null}
        <button type="button" onClick={() => link.post({ type: 'copy', text: details })}>
          {t('Copy details')}
        </button>
        {error.action === 'show-log' && last ? null : (
          <button type="button" onClick={() => link.post({ type: 'show-log' })}>
            {t('Show log')}
          </button>
        )}
      </div>
    </section>
  );
}

/** Seconds until a time; 0 after it. */
function useCountdown(until: number | undefined): number {
  const left = () => Math.max(0, Math.ceil(((until ?? 0) - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    if (left() === 0) return;
    const timer = setInterval(() => setSeconds(left()), 1000);
    return () => clearInterval(timer);
  }, [until]);
  return seconds;
}
