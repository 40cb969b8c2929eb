import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Session } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { signIn } from '../data/open-session.ts';
import { describeFailure } from '../data/use-answer.ts';
import { ConnectionNotice } from '../parts/connection-notice.tsx';

/** Exchanges a key for a session. The key is not stored in the browser. */
export function Login(props: { reason: 'ended' | 'link' | undefined; onOpen: (session: Session) => void }) {
  const { api } = useAdmin();
  const key = useSignal('');
  const problem = useSignal('');
  const busy = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const submit = async () => {
    if (key.value.trim() === '') {
      problem.value = t('Enter a key.');
      return;
    }
    busy.value = true;
    try {
      const session = await signIn(api, { key: key.value.trim() });
      key.value = '';
      props.onOpen(session);
    } catch (thrown) {
      problem.value = describeFailure(thrown);
    } finally {
      busy.value = false;
    }
  };
  return (
    <main class="login">
      <ConnectionNotice />
      <form
        class="card"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <h1>{t('Svc Gateway')}</h1>
        {props.reason === 'ended' ? <p class="notice">{t('Your session has ended. Sign in again.')}</p> : null}
        {props.reason === 'link' ? (
          <p class="notice">{t('This link is no longer valid. Create a new one or sign in with a key.')}</p>
        ) : null}
        <label for="key">{t('Key')}</label>
        <input
          id="key"
          ref={field}
          type="password"
          autocomplete="current-password"
          value={key.value}
          aria-invalid={problem.value !== ''}
          aria-describedby="key-problem key-hint"
          onInput={(event) => {
            key.value = event.currentTarget.value;
            problem.value = '';
          }}
        />
        <p id="key-problem" class="problem" role="alert">
          {problem.value}
        </p>
        <p id="key-hint" class="hint">
          {t('An admin key shows the whole gateway. Any other key shows its own usage.')}
        </p>
        <button type="submit" class="primary" disabled={busy.value}>
          {t('Sign In')}
        </button>
      </form>
    </main>
  );
}
