import type { Signal } from '@preact/signals';
import uPlot from 'uplot';
import type { Clock } from '../data/format.ts';
import type { Range } from '../data/period.ts';

export interface PlotSeries {
  readonly name: string;
  readonly color: PlotColor;
  /** One for each bucket; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

export interface PlotProps {
  readonly title: string;
  /** The meaning of the numbers, if the title does not have it. */
  readonly note?: string;
  readonly kind: 'stacked' | 'lines';
  readonly buckets: readonly Range[];
  readonly series: readonly PlotSeries[];
  readonly format: (value: number) => string;
  /** For the axis. */
  readonly short: (value: number) => string;
  /** File name of its CSV. */
  readonly file: string;
  /** The bucket that all plots point at. */
  readonly cursor: Signal<number | undefined>;
}

const HEIGHT = 170;
/** Of the axis of numbers: the same for most plots, so that they stand below each other. */
const LEAST_SIZE = 58;
/** CSS pixels between an axis and its labels. */
const GAP = 6;
const FONT = '12px system-ui, sans-serif';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The palette has eight colours; `--plot-bad` is for failures. */
export type PlotColor = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 'bad';

/** Reads colours of the style sheet. A canvas does not know custom properties. */
function colorReader(element: Element): (name: string) => string {
  const probe = document.createElement('span');
  probe.hidden = true;
  element.append(probe);
  return (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
}

/** Creates the canvas of a plot. @param moved is called with the bucket below the mouse. */
export function createCanvas(
  element: HTMLElement,
  { kind, series, buckets, short }: PlotProps,
  clock: Clock,
  moved: (bucket: number | undefined) => void,
): uPlot {
  const color = colorReader(element);
  const axis = {
    stroke: color('muted'),
    grid: { stroke: color('grid'), width: 1 },
    ticks: { show: false, size: 0 },
    gap: GAP,
    font: FONT,
  };
  const drawn = kind === 'stacked' ? stack(series.map(({ values }) => values)) : series.map(({ values }) => values);
  const order = series.map((_, index) => index);
  // The sum of all is drawn first, and the smaller sums over it.
  if (kind === 'stacked') order.reverse();
  const first = buckets[0];
  const last = buckets.at(-1);
  const bars = uPlot.paths.bars?.({ size: [0.82, 64] });
  const options: uPlot.Options = {
    width: Math.max(120, element.clientWidth),
    height: HEIGHT,
    ms: 1,
    tzDate: (at) => uPlot.tzDate(new Date(at), clock.zone.name),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'lines', size: 6 } },
    scales: {
      x: { range: () => [first?.since ?? 0, last?.until ?? 1] },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 24,
        space: 64,
        incrs: [...tickSteps(buckets)],
        values: (_, splits, __, ___, step) => splits.map(timeLabel(clock, step)),
      },
      { ...axis, size: sizeOfLabels, space: 34, values: (_, splits) => splits.map(short) },
    ],
    series: [
      {},
      ...order.map((index) => {
        const stroke = color(`plot-${series[index]?.color ?? 0}`);
        return kind === 'stacked' && bars
          ? { stroke, fill: stroke, width: 0, paths: bars, points: { show: false } }
          : { stroke, width: 2, points: { size: 4, fill: stroke } };
      }),
    ],
    hooks: {
      setCursor: [
        ({ cursor }) => moved(cursor.left !== undefined && cursor.left >= 0 ? (cursor.idx ?? undefined) : undefined),
      ],
    },
  };
  const times = buckets.map(({ since, until }) => (since + until) / 2);
  return new uPlot(options, [times, ...order.map((index) => [...(drawn[index] ?? [])])], element);
}

/** CSS pixels of the axis of numbers. Small numbers have long labels. */
function sizeOfLabels({ ctx }: uPlot, labels: readonly string[] | null): number {
  ctx.save();
  ctx.font = FONT;
  const widths = (labels ?? []).map((label) => ctx.measureText(label).width);
  ctx.restore();
  return Math.max(LEAST_SIZE, Math.ceil(Math.max(0, ...widths)) + 2 * GAP);
}

/** The sums of each series and those before it. */
function stack(values: readonly (readonly (number | null)[])[]): number[][] {
  const sums: number[] = [];
  return values.map((row) =>
    row.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0);
      sums[index] = sum;
      return sum;
    }),
  );
}

/** The distances of times on the axis: no shorter than the steps of the plot. */
function tickSteps(buckets: readonly Range[]): readonly number[] {
  const [first] = buckets;
  const step = first === undefined ? 0 : first.until - first.since;
  return [1 / 4, 1 / 2, 1, 2, 3, 4, 6, 8, 12, 24, 48, 72, 168, 336, 720, 2160, 8760]
    .map((hours) => hours * HOUR_MS)
    .filter((length) => length >= Math.min(step, DAY_MS - 2 * HOUR_MS));
}

/** Days, or times with the day at midnight. */
function timeLabel(clock: Clock, step: number): (at: number) => string {
  return (at) => {
    if (step >= DAY_MS || clock.zone.periodAt('day', at).start === at) return clock.shortDay(at);
    return clock.time(at);
  };
}
