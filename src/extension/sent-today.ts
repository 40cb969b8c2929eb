import * as vscode from 'vscode';
import { CoalescedRun } from '../base/concurrency.ts';
import { textTable } from '../base/text-table.ts';
import type { KeptTexts } from './kept-texts.ts';

const KEY = 'svc.sentToday';

export type Purpose = 'chat' | 'completions' | 'extensions' | 'lists' | 'provider' | 'web';

/** The requests to one host for one purpose on one day. */
interface Sent {
  readonly host: string;
  readonly purpose: Purpose;
  readonly requests: number;
  /** Of their bodies. */
  readonly bytes: number;
  /** Milliseconds since 1970, of the last one. */
  readonly at: number;
}

interface StoredDay {
  readonly day: string;
  readonly rows: readonly Sent[];
}

/** Where code was sent today by all windows. Contents are not kept, and older entries are removed. */
export class SentToday {
  readonly #memory: vscode.Memento;
  /** Not stored yet. */
  #fresh: readonly Sent[] = [];
  readonly #store = new CoalescedRun(async () => {
    const rows = this.#rows();
    this.#fresh = [];
    await this.#memory.update(KEY, { day: today(), rows } satisfies StoredDay);
  });

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  /** @param bytes of the body of the request. */
  add(host: string, purpose: Purpose, bytes: number): void {
    this.#fresh = sums([...this.#fresh, { host, purpose, requests: 1, bytes, at: Date.now() }]);
    // Memory that can't be written only makes the list shorter.
    this.#store.run().catch(() => undefined);
  }

  #rows(): readonly Sent[] {
    const stored = this.#memory.get<StoredDay>(KEY);
    return sums([...(stored?.day === today() ? stored.rows : []), ...this.#fresh]);
  }

  async show(texts: KeptTexts): Promise<void> {
    const { t } = vscode.l10n;
    const rows = [...this.#rows()].sort((a, b) => b.at - a.at);
    const cells = rows.map(({ host, purpose, requests, bytes, at }) => [
      host,
      purposeName(purpose),
      `${requests}`,
      `${bytes}`,
      new Date(at).toLocaleTimeString(vscode.env.language),
    ]);
    const head = [t('HOST'), t('PURPOSE'), t('REQUESTS'), t('BYTES SENT'), t('LAST')];
    const note = t('Requests of Svc in VS Code today. Those of the gateway are in its usage.');
    const list = rows.length === 0 ? `${t('Nothing was sent today.')}\n` : textTable(head, cells, [2, 3]);
    await texts.show(t('Where My Code Went'), `${note}\n\n${list}`);
  }
}

function sums(rows: readonly Sent[]): readonly Sent[] {
  const grouped = Map.groupBy(rows, ({ host, purpose }) => `${purpose} ${host}`);
  return [...grouped.values()].flatMap((same) => {
    const [first] = same;
    const sum = (of: (row: Sent) => number) => same.reduce((total, row) => total + of(row), 0);
    const at = Math.max(...same.map((row) => row.at));
    return first ? [{ ...first, requests: sum((row) => row.requests), bytes: sum((row) => row.bytes), at }] : [];
  });
}

function today(): string {
  return new Date().toDateString();
}

function purposeName(purpose: Purpose): string {
  const { t } = vscode.l10n;
  switch (purpose) {
    case 'chat':
      return t('chat');
    case 'completions':
      return t('completions and next edits');
    case 'extensions':
      return t('other extensions');
    case 'lists':
      return t('lists of models');
    case 'provider':
      return t('set-up of a provider');
    case 'web':
      return t('web page');
  }
}
