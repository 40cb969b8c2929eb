import { useEffect, useMemo } from 'preact/hooks';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { formatCount } from '../data/format.ts';
import { LiveRequests } from '../data/live-requests.ts';
import { Empty } from '../parts/answer-view.tsx';
import { RequestTable } from './request-table.tsx';

/** Requests as they end. */
export function LiveView({ query }: { query: Readonly<Record<string, string | undefined>> }) {
  const { api } = useAdmin();
  // For another query, the parent creates another view.
  const live = useMemo(() => new LiveRequests(api, query), []);
  useEffect(() => () => live.close(), [live]);
  const list = live.list.value;
  const sample = live.sample.value;
  return (
    <>
      <div class="live-bar">
        <button type="button" aria-pressed={live.paused.value} onClick={() => live.togglePause()}>
          {live.paused.value ? t('Resume') : t('Pause')}
        </button>
        <span role="status">
          {!live.connected.value
            ? t('Connecting…')
            : live.paused.value
              ? t('Paused: {0} new', formatCount(live.waiting.value.length))
              : sample
                ? t('{0} of {1} requests a second are shown.', formatCount(sample.shown), formatCount(sample.total))
                : t('New requests appear here when they end.')}
        </span>
      </div>
      {list.length === 0 ? <Empty title={t('No request yet.')} /> : <RequestTable requests={list} />}
    </>
  );
}
