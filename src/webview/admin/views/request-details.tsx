import type { ComponentChildren } from 'preact';
import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import type { Attempt, PriceLine, RequestDetail } from '../../../protocol/admin-api/schemas.ts';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import { formatCount, formatFineUsd, formatMilliseconds } from '../data/format.ts';
import { useAnswer } from '../data/use-answer.ts';
import { AnswerView } from '../parts/answer-view.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Table } from '../parts/table.tsx';
import { Outcome } from './request-table.tsx';

/** One request: its attempts with their times, its tokens, and the sum that made its price. */
export function RequestDetails({ id, onClose }: { id: string; onClose: () => void }) {
  const answer = useAnswer(ENDPOINTS.getRequest, { params: { id } });
  return (
    <Dialog title={t('Request')} onClose={onClose} large>
      <AnswerView answer={answer}>
        {(request) => (
          <>
            <Facts of={request} />
            <h3>{t('Attempts')}</h3>
            <Attempts of={request} />
            <h3>{t('Price')}</h3>
            <Price of={request} />
          </>
        )}
      </AnswerView>
    </Dialog>
  );
}

function Facts({ of }: { of: RequestDetail }) {
  const { clock } = useAdmin();
  const fact = (name: string, value: ComponentChildren) => (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
  const tags = Object.entries(of.tags).map(([name, value]) => `${name}=${value}`);
  return (
    <dl class="facts">
      {fact(t('Outcome'), <Outcome of={of} />)}
      {fact(t('Ended'), clock.value.second(Date.parse(of.at)))}
      {fact(t('Model'), of.model ?? '–')}
      {fact(t('Endpoint'), <code>{of.endpoint}</code>)}
      {fact(t('Key'), of.key)}
      {of.user === null ? null : fact(t('User'), of.user)}
      {of.organization === null ? null : fact(t('Organization'), of.organization)}
      {fact(t('Status'), of.status ?? '–')}
      {fact(t('Duration'), formatMilliseconds(of.duration_ms))}
      {tags.length === 0 ? null : fact(t('Tags'), tags.join(', '))}
      <div class="long">
        <dt>{t('Request ID')}</dt>
        <dd>
          <code>{of.id}</code>
        </dd>
      </div>
    </dl>
  );
}

function Attempts({ of: { tries, duration_ms } }: { of: RequestDetail }) {
  if (tries.length === 0) return <p>{t('The request was not sent to a provider.')}</p>;
  const tokens = (value: number | null) => (value === null ? '–' : formatCount(value));
  const columns = [
    { name: t('No.'), look: 'number' as const, cell: ({ attempt }: Attempt) => attempt },
    { name: t('Model'), cell: ({ model }: Attempt) => model },
    { name: t('Outcome'), cell: (attempt: Attempt) => <Outcome of={attempt} /> },
    { name: t('Times'), cell: (attempt: Attempt) => <Times of={attempt} whole={duration_ms} /> },
    { name: t('Wait'), look: 'number' as const, cell: ({ wait_ms }: Attempt) => formatMilliseconds(wait_ms) },
    {
      name: t('First byte'),
      look: 'number' as const,
      cell: ({ first_byte_ms }: Attempt) => (first_byte_ms === null ? '–' : formatMilliseconds(first_byte_ms)),
    },
    { name: t('End'), look: 'number' as const, cell: ({ end_ms }: Attempt) => formatMilliseconds(end_ms) },
    { name: t('Input'), look: 'number' as const, cell: (attempt: Attempt) => tokens(attempt.tokens.input) },
    { name: t('Output'), look: 'number' as const, cell: (attempt: Attempt) => tokens(attempt.tokens.output) },
    {
      name: t('Cost'),
      look: 'number' as const,
      cell: ({ cost }: Attempt) => (cost === null ? '–' : formatFineUsd(cost)),
    },
  ];
  return <Table caption={t('Attempts')} columns={columns} rows={tries} id={({ attempt }) => String(attempt)} cards />;
}

/** A bar: waiting for the first byte, and receiving. The numbers are beside it. */
function Times({ of: { wait_ms, first_byte_ms, end_ms }, whole }: { of: Attempt; whole: number }) {
  const scale = Math.max(whole, end_ms, 1);
  const first = first_byte_ms === null ? end_ms : Math.min(end_ms, wait_ms + first_byte_ms);
  const x = (milliseconds: number) => (milliseconds / scale) * 120;
  return (
    <svg class="times" viewBox="0 0 120 10" width="120" height="10" aria-hidden="true">
      <rect class="track" x="0" y="4" width="120" height="2" />
      <rect class="first" x={x(wait_ms)} y="1" width={Math.max(1, x(first - wait_ms))} height="8" />
      <rect class="rest" x={x(first)} y="1" width={Math.max(0, x(end_ms - first))} height="8" />
    </svg>
  );
}

function Price({ of: { price, estimated, estimate_reason, served, byok } }: { of: RequestDetail }) {
  const columns = [
    { name: t('Tokens'), cell: ({ kind }: PriceLine) => kindTitle(kind) },
    { name: t('Number'), look: 'number' as const, cell: ({ tokens }: PriceLine) => formatCount(tokens) },
    {
      name: t('USD per million'),
      look: 'number' as const,
      cell: ({ usd_per_million }: PriceLine) => formatFineUsd(usd_per_million),
    },
    { name: t('Cost'), look: 'number' as const, cell: ({ cost }: PriceLine) => formatFineUsd(cost) },
  ];
  return (
    <>
      {price.lines.length === 0 ? null : (
        <Table caption={t('Price')} columns={columns} rows={price.lines} id={({ kind }) => kind} />
      )}
      <p class="sum">
        {t('Total')}: <strong>{price.total === null ? '–' : formatFineUsd(price.total)}</strong>
      </p>
      <p class="hint">{basisText(price.basis)}</p>
      {served.length > 0 ? <p class="hint">{t('Served: {0}', served.join(', '))}</p> : null}
      <p class="hint">{estimated ? estimateText(estimate_reason) : t('The provider reported the tokens.')}</p>
      {byok ? <p class="hint">{t('Paid with the organization’s own credential.')}</p> : null}
    </>
  );
}

function kindTitle(kind: PriceLine['kind']): string {
  switch (kind) {
    case 'input':
      return t('Input, not cached');
    case 'cache_read':
      return t('Input, cached');
    case 'cache_write':
      return t('Written to the cache');
    case 'cache_write_1h':
      return t('Written to the cache for 1 hour');
    case 'output':
      return t('Output');
    case 'input_audio':
      return t('Input, audio');
    case 'reasoning':
      return t('Reasoning');
    case 'output_audio':
      return t('Output, audio');
    case 'output_image':
      return t('Output, images');
    case 'calls':
      return t('Calls of the provider’s tools');
  }
}

function estimateText(reason: RequestDetail['estimate_reason']): string {
  switch (reason) {
    case 'client_left':
      return t('The client left before the provider reported all tokens. They are estimated.');
    case 'interrupted':
      return t('The answer broke off before the provider reported all tokens. They are estimated.');
    case 'partly_reported':
      return t('The provider did not report all tokens. The others are estimated.');
    case 'capped':
      return t('The provider reported more tokens than the request can cause. They are limited.');
    case 'not_reported':
    case null:
      return t('The provider reported no tokens. They are estimated.');
  }
}

function basisText(basis: RequestDetail['price']['basis']): string {
  switch (basis) {
    case 'prices':
      return t('By the prices of the model.');
    case 'unknown':
      return t('The prices of the model have changed since. The total is what was counted.');
    case 'reported':
      return t('The provider reported the cost.');
    case 'none':
      return t('No price is known.');
  }
}
