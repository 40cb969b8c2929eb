import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';

/** Says that the gateway does not answer. It disappears when the connection is back. */
export function ConnectionNotice() {
  const { api } = useAdmin();
  return (
    <div role="status" class="connection">
      {api.lost.value ? (
        <p class="notice warn">
          <strong>{t('The gateway does not answer.')}</strong> {t('The page tries again by itself.')}
        </p>
      ) : null}
    </div>
  );
}
