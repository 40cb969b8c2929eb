import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { messageText } from '../../../chat/transcript.ts';
import type { ModelSetup } from '../../../protocol/chat/page-messages.ts';
import { Icon } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import type { ConversationState, ShownBranch } from '../conversation-state.ts';
import { FindBar } from '../find/find-bar.tsx';
import { usePanel } from '../panel.ts';
import { MessageView } from './message-view.tsx';

/** Within this many pixels (about a line) of the end, the view follows new text. */
const AT_END = 24;

/** Square pixels per character, to estimate which messages fill the first screen. */
const CHARACTER = 140;
/** Number of earlier messages that are added at a time. */
const SLICE = 50;
/** Minimum size of a message in characters, including its margins and buttons. */
const MIN_SIZE = 200;

/** The messages. Follows streamed text only while the user is at the end; scrolling up stops it. */
export function TranscriptView() {
  const { state } = usePanel();
  const list = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { following, follow, stay } = useFollow(list, content);
  const path = state.path.value;
  const session = state.session.value;
  const drawnFrom = firstOnScreen(state, path);
  const from = useEarlier(session, drawnFrom);
  useLayoutEffect(() => follow(), [session]);
  // Always scroll to a new message of the user.
  useLayoutEffect(() => {
    if (state.running.peek()) follow();
  }, [path.length]);
  return (
    <div class="transcript-frame">
      <FindBar list={list} stay={stay} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: must be scrollable with the keyboard */}
      <div class="transcript" ref={list} role="log" aria-live="off" aria-label={t('Conversation')} tabIndex={0}>
        <div ref={content}>
          {path.length === 0 ? <Empty /> : null}
          {path.slice(from).map((shown, index) => (
            <MessageView
              key={shown.id}
              shown={shown}
              last={from + index === path.length - 1}
              far={from + index < drawnFrom}
            />
          ))}
        </div>
      </div>
      {following ? null : (
        <button type="button" class="jump" onClick={follow}>
          <Icon name="arrow-down" /> {t('Latest')}
        </button>
      )}
    </div>
  );
}

/** Index of the first message that may be visible when a conversation opens at its end. */
function firstOnScreen(state: ConversationState, path: readonly ShownBranch[]): number {
  let room = (window.innerWidth * window.innerHeight) / CHARACTER;
  const above = path.findLastIndex(({ id }) => {
    const message = state.message(id)?.peek();
    room -= Math.max(MIN_SIZE, message ? messageText(message).length : 0);
    return room < 0;
  });
  return Math.max(0, above);
}

/** Index of the first rendered message: first a visible one, then, in idle time, earlier ones down to 0. */
function useEarlier(session: string, onScreen: number): number {
  const [reached, setReached] = useState({ session, from: onScreen });
  // After a change of branch, there may be fewer messages.
  const from = reached.session === session ? Math.min(reached.from, onScreen) : onScreen;
  useEffect(() => {
    if (from === 0) return undefined;
    const next = () => setReached({ session, from: Math.max(0, from - SLICE) });
    const idle = requestIdleCallback(next, { timeout: 100 });
    return () => cancelIdleCallback(idle);
  }, [session, from]);
  return from;
}

type Ref = { readonly current: HTMLElement | null };

function useFollow(list: Ref, content: Ref): { following: boolean; follow: () => void; stay: () => void } {
  const [following, setFollowing] = useState(true);
  const on = useRef(true);
  const set = (value: boolean) => {
    if (on.current === value) return;
    on.current = value;
    setFollowing(value);
  };
  const follow = () => {
    set(true);
    const element = list.current;
    if (element) element.scrollTop = element.scrollHeight;
  };
  useEffect(() => {
    const element = list.current;
    const inner = content.current;
    if (!element || !inner) return;
    const atEnd = () => element.scrollHeight - element.scrollTop - element.clientHeight <= AT_END;
    let top = element.scrollTop;
    const onScroll = () => {
      // New content also moves the end: only scrolling up stops following.
      if (atEnd()) set(true);
      else if (element.scrollTop < top - 1) set(false);
      top = element.scrollTop;
    };
    const onWheel = (event: WheelEvent) =>
      event.deltaY < 0 && element.scrollHeight > element.clientHeight && set(false);
    const keepUp = () => {
      if (on.current) element.scrollTop = element.scrollHeight;
      // A card that was answered is shorter: the end may be visible again.
      else if (atEnd()) set(true);
      top = element.scrollTop;
    };
    const grown = new ResizeObserver(keepUp);
    grown.observe(inner);
    grown.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    element.addEventListener('wheel', onWheel, { passive: true });
    return () => {
      grown.disconnect();
      element.removeEventListener('scroll', onScroll);
      element.removeEventListener('wheel', onWheel);
    };
  }, []);
  return { following, follow, stay: () => set(false) };
}

function Empty() {
  const { link, state } = usePanel();
  const model = state.model.value;
  return (
    <section class="empty">
      <Icon name="comment-discussion" />
      <h1>{t('Ask about your code')}</h1>
      {model ? (
        <>
          <p>{t('Enter sends, Shift+Enter begins a new line.')}</p>
          <ul class="hints">
            <li>
              <kbd>@</kbd> {t('attaches files, symbols, problems, the terminal or the diff')}
            </li>
            <li>
              <kbd>/</kbd> {t('offers commands such as /explain and /tests')}
            </li>
          </ul>
          {state.trusted.value ? null : <p>{t('This workspace is not trusted: tools can only read.')}</p>}
          {state.history.value ? (
            <button type="button" onClick={() => link.post({ type: 'show-history' })}>
              {t('Show history')}
            </button>
          ) : null}
        </>
      ) : (
        <SetUp />
      )}
    </section>
  );
}

/** Why there is no model, and the ways to get one. */
function SetUp() {
  const { link, state } = usePanel();
  const setup = state.setup.value;
  if (setup.kind === 'loading') return <p role="status">{t('Loading models…')}</p>;
  return (
    <>
      <p>{setupText(setup)}</p>
      <div class="ways">
        {setup.kind === 'withheld' ? (
          <button type="button" class="primary" onClick={() => link.post({ type: 'review-origin' })}>
            <Icon name="shield" /> {t('Decide whether to send the key…')}
          </button>
        ) : null}
        <button
          type="button"
          class={setup.kind === 'withheld' ? undefined : 'primary'}
          onClick={() => link.post({ type: 'add-provider' })}
        >
          <Icon name="key" /> {t('Add a provider…')}
        </button>
        <button type="button" onClick={() => link.post({ type: 'add-local' })}>
          <Icon name="device-desktop" /> {t('Use a model on this machine…')}
        </button>
        <button type="button" onClick={() => link.post({ type: 'add-gateway' })}>
          <Icon name="globe" /> {t('Use a gateway key…')}
        </button>
        <button type="button" onClick={() => link.post({ type: 'import-providers' })}>
          <Icon name="cloud-download" /> {t('Import from other tools…')}
        </button>
      </div>
    </>
  );
}

function setupText(setup: ModelSetup): string {
  if (setup.kind === 'withheld') {
    return t('The key of {0} was withheld, because this project changes the provider’s address.', setup.provider.name);
  }
  if (setup.kind === 'unlisted') return t('{0} lists no models: {1}', setup.provider.name, setup.reason);
  return t('No model is set up yet. Choose how to begin:');
}
