import { useEffect, useRef } from 'preact/hooks';
import type { Ending, ErrorCard, Message, Part } from '../../chat/transcript.ts';
import type { HostLink } from './host-link.ts';
import { MarkdownWriter } from './markdown-writer.ts';

/** One message. The body of an answer is written by `MarkdownWriter`, outside Preact's tree. */
export function MessageView({ message, link }: { message: Message; link: HostLink }) {
  if (message.role === 'user') {
    return (
      <article class="message user" aria-label="You">
        <p class="plain">{message.parts.map((part) => part.text).join('')}</p>
      </article>
    );
  }
  const name = message.model?.name ?? 'Svc';
  return (
    <article class="message assistant" aria-label={name} aria-busy={message.ending === undefined}>
      <header class="from">
        <span class="codicon codicon-sparkle" aria-hidden="true" />
        <span>{name}</span>
        {message.model?.simulated ? <span class="badge">simulated</span> : null}
      </header>
      {message.parts.map((part, index) => (
        <PartView key={index} part={part} />
      ))}
      {message.ending === undefined && message.parts.length === 0 ? <Waiting /> : null}
      {message.ending ? <EndingView ending={message.ending} link={link} /> : null}
    </article>
  );
}

function PartView({ part }: { part: Part }) {
  if (part.type === 'reasoning') {
    return (
      <details class="reasoning">
        <summary>Reasoning</summary>
        <p class="plain">{part.text}</p>
      </details>
    );
  }
  return <MarkdownBody text={part.text} />;
}

function MarkdownBody({ text }: { text: string }) {
  const body = useRef<HTMLDivElement>(null);
  const writer = useRef<{ writer: MarkdownWriter; written: number } | null>(null);
  useEffect(() => {
    if (!body.current) return;
    writer.current ??= { writer: new MarkdownWriter(body.current), written: 0 };
    const fresh = text.slice(writer.current.written);
    writer.current.written = text.length;
    if (fresh) writer.current.writer.append(fresh);
  }, [text]);
  return <div class="markdown" ref={body} />;
}

function Waiting() {
  return (
    <p class="waiting">
      <span class="codicon codicon-loading codicon-modifier-spin" aria-hidden="true" /> Waiting for the answer…
    </p>
  );
}

const ENDING_NOTES = {
  length: 'The model reached its output limit, so this answer may be incomplete.',
  content_filter: 'The provider’s content filter ended this answer.',
  closed: 'The connection closed early, so this answer may be incomplete.',
} as const;

function EndingView({ ending, link }: { ending: Ending; link: HostLink }) {
  switch (ending.type) {
    case 'stopped':
      return <p class="note">Stopped.</p>;
    case 'failed':
      return <ErrorCardView error={ending.error} link={link} />;
    case 'finished': {
      const { reason } = ending;
      if (reason === 'stop' || reason === 'tool_calls') return null;
      return <p class="note warning">{ENDING_NOTES[reason]}</p>;
    }
  }
}

function ErrorCardView({ error, link }: { error: ErrorCard; link: HostLink }) {
  const details = `${error.title}\n${error.message}\n${error.errorType} (HTTP ${error.status})`;
  return (
    <section class="card error" role="alert">
      <h2>
        <span class="codicon codicon-error" aria-hidden="true" /> {error.title}
      </h2>
      <p>{error.message}</p>
      {error.action ? <p>{error.action}</p> : null}
      <div class="actions">
        <button type="button" class="primary" onClick={() => link.post({ type: 'retry' })}>
          Try again
        </button>
        <button type="button" onClick={() => link.post({ type: 'copy', text: details })}>
          Copy details
        </button>
        <button type="button" onClick={() => link.post({ type: 'show-log' })}>
          Show log
        </button>
      </div>
    </section>
  );
}
