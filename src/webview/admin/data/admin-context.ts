import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { isTimeZone, TimeZone } from '../../../base/time-zone.ts';
import type { Address } from './address.ts';
import type { AdminApi } from './admin-api.ts';
import { Clock } from './format.ts';
import { type Period, readPeriod } from './period.ts';

/** Shared by all components of the page. */
export class Admin {
  readonly address: Address;
  readonly api: AdminApi;
  /** The moment at which periods that end now end. It moves when the data is loaded again. */
  readonly now: Signal<number> = signal(Date.now());
  readonly clock: ReadonlySignal<Clock>;
  readonly period: ReadonlySignal<Period>;

  constructor(address: Address, api: AdminApi) {
    this.address = address;
    this.api = api;
    this.clock = computed(() => new Clock(new TimeZone(zoneName(address.get('tz')))));
    this.period = computed(() => {
      const query = { period: address.get('period'), since: address.get('since'), until: address.get('until') };
      return readPeriod(query, this.clock.value.zone, this.now.value);
    });
  }

  refresh(): void {
    batch(() => {
      this.now.value = Date.now();
      this.api.revision.value += 1;
    });
  }
}

/** The time zone of the address, else that of the browser. */
function zoneName(named: string): string {
  if (named !== '' && isTimeZone(named)) return named;
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

export const AdminContext = createContext<Admin | undefined>(undefined);

export function useAdmin(): Admin {
  const admin = useContext(AdminContext);
  if (!admin) throw new Error('This component must be inside AdminContext.');
  return admin;
}
