import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';

/** Goes through pages. The page is in the address. */
export function Pager({ next }: { next: string | null }) {
  const { address } = useAdmin();
  const first = address.get('cursor') === '';
  if (first && next === null) return null;
  return (
    <nav class="pager" aria-label={t('Pages')}>
      <button type="button" disabled={first} onClick={() => address.change({ cursor: undefined })}>
        {t('First page')}
      </button>
      <button type="button" disabled={next === null} onClick={() => address.change({ cursor: next ?? undefined })}>
        {t('Next page')}
      </button>
    </nav>
  );
}
