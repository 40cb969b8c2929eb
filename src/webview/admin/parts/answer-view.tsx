import type { ComponentChildren } from 'preact';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import type { Answer } from '../data/use-answer.ts';

/** Shows an answer, or that it is loading, or why it failed. A value stays while it is loaded again. */
export function AnswerView<T>(props: { answer: Answer<T>; children: (value: T) => ComponentChildren }) {
  const { value, error, loading } = props.answer;
  const admin = useAdmin();
  return (
    <div class="answer" aria-busy={loading}>
      {error === undefined ? null : (
        <div class="notice bad" role="alert">
          <p>
            <strong>{t('The gateway refused the request.')}</strong> {error}
          </p>
          <button type="button" onClick={() => admin.refresh()}>
            {t('Try Again')}
          </button>
        </div>
      )}
      {value !== undefined ? props.children(value) : error === undefined ? <Loading /> : null}
    </div>
  );
}

function Loading() {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">{t('Loading…')}</span>
      <span class="bone" aria-hidden="true" />
      <span class="bone" aria-hidden="true" />
      <span class="bone" aria-hidden="true" />
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children === undefined ? null : <p>{children}</p>}
    </div>
  );
}
