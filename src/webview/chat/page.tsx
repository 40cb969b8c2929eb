import { render } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Composer } from './composer.tsx';
import { messages, model, ready, receive } from './conversation-state.ts';
import { connectToHost, type HostLink } from './host-link.ts';
import { MessageView } from './message-view.tsx';

function Page({ link }: { link: HostLink }) {
  if (!ready.value) return null;
  return (
    <>
      <Transcript link={link} />
      <Composer link={link} />
    </>
  );
}

function Transcript({ link }: { link: HostLink }) {
  const list = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  useLayoutEffect(() => {
    const element = list.current;
    if (element && following.current) element.scrollTop = element.scrollHeight;
  });
  const onScroll = () => {
    const element = list.current;
    if (element) following.current = element.scrollHeight - element.scrollTop - element.clientHeight < 24;
  };
  return (
    <div class="transcript" ref={list} onScroll={onScroll} role="log" aria-live="off">
      {messages.value.length === 0 ? <Empty link={link} /> : null}
      {messages.value.map((message) => (
        <MessageView key={message.id} message={message} link={link} />
      ))}
    </div>
  );
}

function Empty({ link }: { link: HostLink }) {
  return (
    <section class="empty">
      <h1>Ask about your code</h1>
      {model.value ? (
        <p>Answers come from {model.value.name}. Enter sends, Shift+Enter makes a new line.</p>
      ) : (
        <>
          <p>No model is set up yet.</p>
          <button type="button" class="primary" onClick={() => link.post({ type: 'add-provider' })}>
            Add a provider
          </button>
        </>
      )}
    </section>
  );
}

const link = connectToHost();
link.listen(receive);
document.addEventListener('click', (event) => {
  const anchor = event.target instanceof Element ? event.target.closest('a') : null;
  if (!anchor) return;
  // The host opens links: it checks the scheme and shows where a link really goes.
  event.preventDefault();
  link.post({ type: 'open-link', href: anchor.getAttribute('href') ?? '' });
});
render(<Page link={link} />, document.body);
link.post({ type: 'ready' });
