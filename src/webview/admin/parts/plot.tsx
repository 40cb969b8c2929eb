import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { t } from '../../shared/words.ts';
import { useAdmin } from '../data/admin-context.ts';
import type { Clock } from '../data/format.ts';
import type { Range } from '../data/period.ts';
import { saveCsv } from './csv-file.ts';
import { createCanvas, type PlotProps } from './plot-canvas.ts';
import { Table } from './table.tsx';

/** A plot with its legend, and the same numbers as a table and as CSV. */
export function Plot(props: PlotProps) {
  const { title, note, series, buckets, format, cursor } = props;
  const table = useSignal(false);
  const heading = useId();
  const { clock } = useAdmin();
  const at = cursor.value;
  const bucket = at === undefined ? undefined : buckets[at];
  const empty = series.every(({ values }) => values.every((value) => value === null || value === 0));
  return (
    <section class="plot card" aria-labelledby={heading}>
      <header>
        <h3 id={heading}>{title}</h3>
        <button
          type="button"
          class="quiet"
          aria-pressed={table.value}
          onClick={() => {
            table.value = !table.value;
          }}
        >
          {t('Table')}
        </button>
        <button type="button" class="quiet" onClick={() => saveCsv(`${props.file}.csv`, csvRows(props, clock.value))}>
          CSV
        </button>
      </header>
      {note === undefined ? null : <p class="hint">{note}</p>}
      <ul class="legend">
        {series.map(({ name, color, values }) => (
          <li key={name}>
            <span class={`swatch plot-${color}`} aria-hidden="true" />
            <span class="legend-name">{name}</span>
            {at === undefined ? null : <span class="legend-value">{write(values[at], format)}</span>}
          </li>
        ))}
        <li class="legend-time">{bucket ? clock.value.minute(bucket.since) : ' '}</li>
      </ul>
      {table.value ? (
        <PlotTable {...props} />
      ) : empty ? (
        <p class="plot-empty">{t('Nothing in this period.')}</p>
      ) : (
        <Canvas {...props} />
      )}
    </section>
  );
}

const write = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? '–' : format(value);

function PlotTable({ title, series, buckets, format }: PlotProps) {
  const { clock } = useAdmin();
  const columns = [
    { name: t('Time'), cell: (index: number) => clock.value.minute(buckets[index]?.since ?? 0) },
    ...series.map(({ name, values }) => ({
      name,
      look: 'number' as const,
      cell: (index: number) => write(values[index], format),
    })),
  ];
  return <Table caption={title} columns={columns} rows={[...buckets.keys()].reverse()} id={String} />;
}

/** Numbers are not rounded. Times are in the time zone in sight, with their offset. */
function csvRows({ series, buckets }: PlotProps, clock: Clock): string[][] {
  const time = ({ since }: Range) => {
    const offset = clock.zone.offset(since);
    return new Date(since + offset).toISOString().slice(0, 19) + clock.offset(since).slice(3).replace('−', '-');
  };
  return [
    ['time', ...series.map(({ name }) => name)],
    ...buckets.map((bucket, index) => [time(bucket), ...series.map(({ values }) => String(values[index] ?? ''))]),
  ];
}

/** The canvas. For the keyboard and for screen readers it is a slider over the buckets. */
function Canvas(props: PlotProps) {
  const { title, series, buckets, format, cursor } = props;
  const { clock } = useAdmin();
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const look = useLook();
  useEffect(() => {
    const place = element.current;
    if (!place) return;
    const moved = (bucket: number | undefined) => {
      if (place.matches(':hover')) cursor.value = bucket;
    };
    const created = createCanvas(place, props, clock.value, moved);
    plot.current = created;
    const sizes = new ResizeObserver(() => {
      if (place.clientWidth > 0) created.setSize({ width: place.clientWidth, height: created.height });
    });
    sizes.observe(place);
    return () => {
      sizes.disconnect();
      created.destroy();
      place.replaceChildren();
    };
  }, [buckets, series, clock.value, look]);
  useSignalEffect(() => {
    const at = cursor.value;
    const [shown, bucket] = [plot.current, at === undefined ? undefined : props.buckets[at]];
    if (!shown || element.current?.matches(':hover')) return;
    const left = bucket ? shown.valToPos((bucket.since + bucket.until) / 2, 'x') : -10;
    shown.setCursor({ left, top: bucket ? 0 : -10 }, false);
  });
  const at = cursor.value ?? buckets.length - 1;
  const values = series.map(({ name, values: row }) => `${name} ${write(row[at], format)}`).join(', ');
  return (
    <div
      ref={element}
      class="canvas"
      role="slider"
      tabIndex={0}
      aria-label={title}
      aria-valuemin={0}
      aria-valuemax={buckets.length - 1}
      aria-valuenow={at}
      aria-valuetext={`${clock.value.minute(buckets[at]?.since ?? 0)}: ${values}`}
      onKeyDown={(event) => {
        const next = nextBucket(event.key, cursor.value, buckets.length);
        if (next === undefined) return;
        event.preventDefault();
        cursor.value = next.bucket;
      }}
      onMouseLeave={() => {
        cursor.value = undefined;
      }}
    />
  );
}

function nextBucket(key: string, at: number | undefined, count: number): { bucket: number | undefined } | undefined {
  const last = count - 1;
  switch (key) {
    case 'ArrowLeft':
      return { bucket: Math.max(0, (at ?? count) - 1) };
    case 'ArrowRight':
      return { bucket: Math.min(last, (at ?? last) + 1) };
    case 'Home':
      return { bucket: 0 };
    case 'End':
      return { bucket: last };
    case 'Escape':
      return { bucket: undefined };
    default:
      return undefined;
  }
}

/** Changes when the browser switches between dark, light and high contrast. */
function useLook(): number {
  const look = useSignal(0);
  useEffect(() => {
    const queries = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query));
    const changed = () => {
      look.value += 1;
    };
    for (const query of queries) query.addEventListener('change', changed);
    return () => {
      for (const query of queries) query.removeEventListener('change', changed);
    };
  }, []);
  return look.value;
}
