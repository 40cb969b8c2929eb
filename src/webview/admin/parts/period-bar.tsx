import { useMemo } from 'preact/hooks';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { PERIOD_NAMES, type PeriodName } from '../data/period.ts';

/** The period and the time zone of all numbers on the page. */
export function PeriodBar({ gatewayZone }: { gatewayZone: string }) {
  const admin = useAdmin();
  const { address } = admin;
  const [period, clock] = [admin.period.value, admin.clock.value];
  const change = (name: string) => {
    const custom = { since: clock.date(period.since), until: clock.date(period.until - 1) };
    address.change({ period: name, since: undefined, until: undefined, ...(name === 'custom' ? custom : {}) });
  };
  return (
    <section class="period" aria-label={t('Period and time zone')}>
      <select aria-label={t('Period')} value={period.name} onChange={(event) => change(event.currentTarget.value)}>
        {PERIOD_NAMES.map((name) => (
          <option key={name} value={name}>
            {periodTitle(name)}
          </option>
        ))}
      </select>
      {period.name === 'custom' ? <Days /> : null}
      <ZoneSelect gatewayZone={gatewayZone} />
      <span class="range">
        {clock.minute(period.since)} – {clock.minute(period.until)} ({clock.offset(period.until)})
      </span>
      <button type="button" class="quiet refresh" onClick={() => admin.refresh()}>
        {t('Refresh')}
      </button>
    </section>
  );
}

function periodTitle(name: PeriodName): string {
  switch (name) {
    case '1h':
      return t('Last hour');
    case '24h':
      return t('Last 24 hours');
    case '7d':
      return t('Last 7 days');
    case '30d':
      return t('Last 30 days');
    case 'today':
      return t('Today');
    case 'week':
      return t('This week');
    case 'month':
      return t('This month');
    case 'last-month':
      return t('Last month');
    case 'custom':
      return t('From – to');
  }
}

function Days() {
  const { address } = useAdmin();
  const field = (name: 'since' | 'until', label: string) => (
    <input
      type="date"
      aria-label={label}
      value={address.get(name)}
      onChange={(event) => address.change({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <>
      {field('since', t('First day'))}
      {field('until', t('Last day'))}
    </>
  );
}

/** Names that browsers list although they are out of use. */
const RENAMED: Readonly<Record<string, string>> = {
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Europe/Kiev': 'Europe/Kyiv',
};

function ZoneSelect({ gatewayZone }: { gatewayZone: string }) {
  const { address, clock } = useAdmin();
  const chosen = clock.value.zone.name;
  const zones = useMemo(() => {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const first = new Set(['UTC', own, gatewayZone, chosen]);
    const all = Intl.supportedValuesOf('timeZone').map((name) => RENAMED[name] ?? name);
    return { first: [...first], others: all.filter((name) => !first.has(name)).sort() };
  }, [gatewayZone, chosen]);
  const option = (name: string) => (
    <option key={name} value={name}>
      {name.replaceAll('_', ' ')}
    </option>
  );
  return (
    <select
      class="zone"
      aria-label={t('Time zone')}
      value={chosen}
      onChange={(event) => address.change({ tz: event.currentTarget.value })}
    >
      {zones.first.map(option)}
      <optgroup label={t('All time zones')}>{zones.others.map(option)}</optgroup>
    </select>
  );
}
