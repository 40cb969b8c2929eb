import { useEffect, useRef, useState } from 'preact/hooks';
import { messageText } from '../../chat/transcript.ts';
import { t } from '../shared/words.ts';
import { usePanel } from './panel.ts';

/** Interval at which a screen reader announces that the answer continues. */
const PROGRESS_MS = 4000;

/**
 * Announcements for screen readers: the start of an answer, its progress, and the text once it is complete. The
 * transcript itself is not a live region, because every word would be read as it arrives.
 */
export function StatusLine() {
  const { state } = usePanel();
  const [text, setText] = useState('');
  const hasNews = useRef(false);
  const running = state.running.value;
  useEffect(() => {
    if (running) {
      hasNews.current = true;
      setText(t('The answer begins.'));
      const timer = setInterval(() => setText((before) => progress(before)), PROGRESS_MS);
      return () => clearInterval(timer);
    }
    if (!hasNews.current) return undefined;
    hasNews.current = false;
    const last = state.path.peek().at(-1);
    const message = last && state.message(last.id)?.peek();
    // The error card announces a failure itself.
    setText(message && message.ending?.type !== 'failed' ? messageText(message) || t('The answer has ended.') : '');
    return undefined;
  }, [running, state]);
  useEffect(() => {
    hasNews.current = state.running.peek();
    setText('');
  }, [state.session.value, state]);
  const waiting = state.waiting.value.length > 0;
  return (
    <div class="unseen" role="status">
      {waiting ? t('A tool waits for your decision.') : text}
    </div>
  );
}

/** Alternates two texts, because a screen reader does not repeat an unchanged one. */
function progress(before: string): string {
  const continuing = t('The answer continues.');
  return before === continuing ? `${continuing} …` : continuing;
}
