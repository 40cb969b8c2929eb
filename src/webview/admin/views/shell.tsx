import { useEffect, useRef } from 'preact/hooks';
import type { Session } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { VIEWS, type View } from '../data/address.ts';
import { useAdmin } from '../data/admin-context.ts';
import { ConnectionNotice } from '../parts/connection-notice.tsx';
import { PeriodBar } from '../parts/period-bar.tsx';
import { Audit } from './audit.tsx';
import { Budgets } from './budgets.tsx';
import { Keys } from './keys.tsx';
import { Models } from './models.tsx';
import { Overview } from './overview.tsx';
import { Replicas } from './replicas.tsx';
import { Requests } from './requests.tsx';

/** Views of a key that sees only its own usage. */
const OWN: readonly View[] = ['overview', 'requests', 'budgets'];

/** The frame of the page: navigation, period and time zone, and the view. */
export function Shell({ session }: { session: Session }) {
  const { address, api } = useAdmin();
  const views = session.scope === 'own' ? OWN : VIEWS;
  const view = views.find((each) => each === address.view.value) ?? 'overview';
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${viewTitle(view)} – ${t('Svc Gateway')}`;
    const link = navigation.current?.querySelector<HTMLElement>('[aria-current]');
    // On a narrow screen, the navigation scrolls. `scrollIntoView` would change where Tab starts.
    if (navigation.current && link)
      navigation.current.scrollLeft = link.offsetLeft - navigation.current.offsetLeft - 40;
  }, [view]);
  return (
    <>
      <a class="skip" href="#view">
        {t('Skip to content')}
      </a>
      <header class="bar">
        <span class="brand">{t('Svc Gateway')}</span>
        <nav ref={navigation} aria-label={t('Views')}>
          {views.map((each) => (
            <a
              key={each}
              href={address.link(each)}
              aria-current={each === view ? 'page' : undefined}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
                event.preventDefault();
                address.go(each);
              }}
            >
              {viewTitle(each)}
            </a>
          ))}
        </nav>
        <span class="who" title={scopeTitle(session.scope)}>
          {session.name}
        </span>
        <button type="button" class="quiet" onClick={() => void api.endSession()}>
          {t('Sign Out')}
        </button>
      </header>
      <PeriodBar gatewayZone={session.time_zone} />
      <main id="view" tabIndex={-1}>
        <ConnectionNotice />
        <h1>{viewTitle(view)}</h1>
        <CurrentView view={view} session={session} />
      </main>
    </>
  );
}

function CurrentView({ view, session }: { view: View; session: Session }) {
  switch (view) {
    case 'overview':
      return <Overview session={session} />;
    case 'keys':
      return <Keys session={session} />;
    case 'requests':
      return <Requests session={session} />;
    case 'models':
      return <Models />;
    case 'budgets':
      return <Budgets session={session} />;
    case 'replicas':
      return <Replicas />;
    case 'audit':
      return <Audit />;
  }
}

function viewTitle(view: View): string {
  switch (view) {
    case 'overview':
      return t('Overview');
    case 'keys':
      return t('Keys');
    case 'requests':
      return t('Requests');
    case 'models':
      return t('Models and providers');
    case 'budgets':
      return t('Budgets and organizations');
    case 'replicas':
      return t('Replicas');
    case 'audit':
      return t('Audit');
  }
}

function scopeTitle(scope: Session['scope']): string {
  switch (scope) {
    case 'own':
      return t('This key sees its own usage.');
    case 'read':
      return t('This key sees everything and changes nothing.');
    case 'keys':
      return t('This key also changes keys.');
    case 'all':
      return t('This key also changes admin keys.');
  }
}
