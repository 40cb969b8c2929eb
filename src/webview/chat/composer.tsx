import { useEffect, useRef } from 'preact/hooks';
import { draft, model, running } from './conversation-state.ts';
import type { HostLink } from './host-link.ts';

/** An input method is composing: Enter ends the composition and must not send (Windows reports 229). */
const composing = (event: KeyboardEvent) => event.isComposing || event.keyCode === 229;

export function Composer({ link }: { link: HostLink }) {
  const input = useRef<HTMLTextAreaElement>(null);
  const fit = () => {
    const area = input.current;
    if (!area) return;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
  };
  useEffect(fit, [draft.value]);

  const write = (text: string) => {
    draft.value = text;
    link.post({ type: 'draft', text });
  };
  const send = () => {
    const text = draft.value.trim();
    if (text === '' || running.value) return;
    link.post({ type: 'send', text });
    write('');
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || composing(event)) return;
    event.preventDefault();
    send();
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={input}
        rows={1}
        value={draft.value}
        placeholder="Ask about your code"
        aria-label="Message"
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="bar">
        <button
          type="button"
          class="quiet model"
          title="Choose a model"
          onClick={() => link.post({ type: 'pick-model' })}
        >
          <span class="name">{model.value?.name ?? 'Choose a model'}</span>
          {model.value?.simulated ? <span class="badge">simulated</span> : null}
          <span class="codicon codicon-chevron-down" aria-hidden="true" />
        </button>
        {running.value ? (
          <button type="button" class="icon" aria-label="Stop" title="Stop" onClick={() => link.post({ type: 'stop' })}>
            <span class="codicon codicon-debug-stop" aria-hidden="true" />
          </button>
        ) : (
          <button
            type="button"
            class="icon"
            aria-label="Send"
            title="Send (Enter)"
            disabled={draft.value.trim() === ''}
            onClick={send}
          >
            <span class="codicon codicon-send" aria-hidden="true" />
          </button>
        )}
      </div>
    </form>
  );
}
