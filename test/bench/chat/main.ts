// Streams long answers into the panel in Chromium and measures the cost, compared with plain rendering.
// Writes test/bench/results/chat.json and the table of docs/performance.md between its markers.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { CDPSession, Page } from 'playwright-core';
import { ChatSession } from '../../../src/chat/session/session.ts';
import { PageFeed } from '../../../src/protocol/chat/page-feed.ts';
import type { ToPage } from '../../../src/protocol/chat/page-messages.ts';
import { LABEL, modelAt } from '../../chat/test-session.ts';
import { closeSharedBrowser } from '../../host/chromium.ts';
import {
  COMPLETE,
  type Panel,
  type PanelHost,
  snapshot,
  startPanelHost,
  transcriptOf,
  VIEW,
} from '../../webview/panel-page.ts';
import type { Round } from './contestants.ts';
import { conversation, longAnswer, longFence } from './documents.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FRAME_MS = 16.7;
/** Deltas of four characters a second: 8,000 characters, faster than any model writes. */
const DELTAS_A_SECOND = 2000;
const SAMPLE = 100;

interface Streamed {
  readonly deltas: number;
  readonly scriptAndLayoutMs: number;
  readonly frames: number;
  readonly p99FrameMs: number;
  readonly maxFrameMs: number;
  readonly framesOver: number;
}

interface Updates {
  readonly deltas: number;
  readonly totalMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly overFrame: number;
}

const round = (value: number) => Math.round(value * 100) / 100;
const percentile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

/** The whole way: a session in the host, its feed, the page, a frame. */
async function throughTheHost(host: PanelHost, text: string): Promise<Streamed> {
  const panel = await host.open({ theme: 'dark' });
  const metrics = await panel.page.context().newCDPSession(panel.page);
  await metrics.send('Performance.enable');
  await probeFrames(panel.page);
  const before = await spent(metrics);
  const deltas = await streamSession(panel, text);
  const after = await spent(metrics);
  const frames = await panel.page.evaluate(() => (window as unknown as { frames: number[] }).frames);
  await panel.close();
  return {
    deltas,
    scriptAndLayoutMs: round(after - before),
    frames: frames.length,
    p99FrameMs: round(percentile(frames, 0.99)),
    maxFrameMs: round(Math.max(...frames)),
    framesOver: frames.filter((time) => time > FRAME_MS).length,
  };
}

/**
 * Work of each frame: its callbacks and the style and layout that they cause. What is done between frames – colours,
 * messages that arrive – counts as a separate frame, because it would delay one.
 */
async function probeFrames(page: Page): Promise<void> {
  await page.evaluate(() => {
    const frames: number[] = [];
    Object.assign(window, { frames });
    const timed = (work: () => void) => {
      const began = performance.now();
      work();
      // What the browser would do next, done now so that it is counted.
      const list = document.querySelector('.transcript');
      if (list) list.scrollTop = list.scrollHeight;
      frames.push(performance.now() - began);
    };
    const { requestAnimationFrame: frame, requestIdleCallback: idle } = window;
    window.requestAnimationFrame = (run) => frame.call(window, (at) => timed(() => run(at)));
    window.requestIdleCallback = (run, options) => idle.call(window, (left) => timed(() => run(left)), options);
  });
}

async function spent(metrics: CDPSession): Promise<number> {
  const { metrics: list } = await metrics.send('Performance.getMetrics');
  const seconds = (name: string) => list.find((each) => each.name === name)?.value ?? 0;
  return (seconds('ScriptDuration') + seconds('LayoutDuration') + seconds('RecalcStyleDuration')) * 1000;
}

async function streamSession(panel: Panel, text: string): Promise<number> {
  const deltas = Math.ceil(text.length / 4);
  let id = 0;
  const session = new ChatSession({
    model: () => ({ model: modelAt({ url: 'http://127.0.0.1:1' }), label: LABEL }),
    converse: async function* () {
      const began = performance.now();
      for (let delta = 0; delta < deltas; delta++) {
        while (performance.now() - began < (delta / DELTAS_A_SECOND) * 1000) await new Promise(setImmediate);
        yield { type: 'text', part: 0, text: text.slice(delta * 4, delta * 4 + 4) };
      }
      yield { type: 'finish', reason: 'stop' };
    },
    newId: () => String(++id),
    now: Date.now,
  });
  let crossing: Promise<unknown> = Promise.resolve();
  const feed = new PageFeed(session, (message) => {
    crossing = panel.page.evaluate((data: ToPage) => {
      window.dispatchEvent(new MessageEvent('message', { data, origin: window.origin }));
    }, message);
  });
  await panel.tell({ type: 'model', model: VIEW });
  feed.snapshot();
  await session.send({ text: 'Write it.' });
  feed.flush();
  await crossing;
  await panel.page.locator('.message.assistant[aria-busy="false"]').waitFor();
  feed.dispose();
  return deltas;
}

/** Draws and lays out each delta: all of them for our renderer, samples for plain rendering. */
async function updates(page: Page, kind: 'writer' | 'plain', text: string): Promise<Updates> {
  const every = kind === 'plain' ? SAMPLE : 1;
  const ran = await page.evaluate(
    ({ kind, text, every }) =>
      (window as unknown as { stream(kind: string, text: string, every: number): Promise<Round> }).stream(
        kind,
        text,
        every,
      ),
    { kind, text, every },
  );
  const sum = ran.times.reduce((total, time) => total + time, 0);
  return {
    deltas: ran.deltas,
    totalMs: round((sum * ran.deltas) / ran.ran),
    p99Ms: round(percentile(ran.times, 0.99)),
    maxMs: round(Math.max(...ran.times)),
    overFrame: round((ran.times.filter((time) => time > FRAME_MS).length / ran.ran) * ran.deltas),
  };
}

function messagesOf(texts: readonly string[]) {
  return transcriptOf(
    ...texts.map((value, index) => ({
      id: `m${index}`,
      role: index % 2 ? ('assistant' as const) : ('user' as const),
      parts: [{ type: 'text' as const, text: value }],
      ...(index % 2 ? { ending: COMPLETE } : {}),
    })),
  );
}

async function opening(host: PanelHost) {
  const panel = await host.open({ theme: 'dark' });
  const cdp = await panel.page.context().newCDPSession(panel.page);
  const memory = async () => {
    await cdp.send('HeapProfiler.collectGarbage');
    const { usedSize } = await cdp.send('Runtime.getHeapUsage');
    return round(usedSize / 1e6);
  };
  const whole = snapshot(messagesOf(conversation()));
  const open = (session: string) =>
    panel.page.evaluate(
      async ({ data, count }) => {
        const began = performance.now();
        window.dispatchEvent(new MessageEvent('message', { data, origin: window.origin }));
        const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        await frame();
        const shown = performance.now() - began;
        while (document.querySelectorAll('.message').length < count) await frame();
        return { shown, whole: performance.now() - began };
      },
      { data: { ...whole, session }, count: conversation().length },
    );
  const empty = () => panel.tell({ ...snapshot(transcriptOf()), session: 'none' } as ToPage);
  await panel.tell({ type: 'model', model: VIEW });
  await empty();
  const heap = [await memory()];
  const openMs: number[] = [];
  const wholeMs: number[] = [];
  for (const session of ['one', 'two', 'three']) {
    const { shown, whole } = await open(session);
    openMs.push(round(shown));
    wholeMs.push(round(whole));
    await empty();
    heap.push(await memory());
  }
  await panel.close();
  return { messages: conversation().length, openMs, wholeMs, heapMB: heap };
}

async function contestantPage(host: PanelHost): Promise<Page> {
  const built = await build({
    entryPoints: [join(import.meta.dirname, 'contestants.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'chrome128',
  });
  const context = await host.browser.newContext({ viewport: { width: 420, height: 720 } });
  const page = await context.newPage();
  page.setDefaultTimeout(0);
  await page.goto(`${host.url}/panel.html?open`);
  await page.evaluate(built.outputFiles[0]?.text ?? '');
  return page;
}

const host = await startPanelHost();
const documents = { answer: longAnswer(), fence: longFence() };
const page = await contestantPage(host);
const results = {
  date: new Date().toISOString(),
  deltaCharacters: 4,
  deltasASecond: DELTAS_A_SECOND,
  sampled: SAMPLE,
  characters: { answer: documents.answer.length, fence: documents.fence.length },
  throughTheHost: {
    answer: await throughTheHost(host, documents.answer),
    fence: await throughTheHost(host, documents.fence),
  },
  eachDelta: {
    answer: {
      ours: await updates(page, 'writer', documents.answer),
      plain: await updates(page, 'plain', documents.answer),
    },
    fence: {
      ours: await updates(page, 'writer', documents.fence),
      plain: await updates(page, 'plain', documents.fence),
    },
  },
  opening: await opening(host),
};
await host.close();
await closeSharedBrowser();
mkdirSync(join(ROOT, 'test/bench/results'), { recursive: true });
writeFileSync(join(ROOT, 'test/bench/results/chat.json'), `${JSON.stringify(results, null, 2)}\n`);
const table = report();
console.log(table);
const file = join(ROOT, 'docs/performance.md');
const [begin, end] = ['<!-- chat -->', '<!-- /chat -->'];
const text = readFileSync(file, 'utf8');
const section = `${begin}\n${table}\n${end}`;
const at = text.indexOf(begin);
writeFileSync(
  file,
  at === -1
    ? `${text.trimEnd()}\n\n${section}\n`
    : text.slice(0, at) + section + text.slice(text.indexOf(end) + end.length),
);

function report(): string {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const rows = (['answer', 'fence'] as const).map((name) => {
    const { ours, plain } = results.eachDelta[name];
    const label = name === 'answer' ? 'an answer of 2,000 lines' : 'one fence of 2,000 lines';
    const factor = Math.round(plain.totalMs / ours.totalMs);
    return `| ${label} | ${ours.deltas} | ${seconds(ours.totalMs)} | ${ours.p99Ms} ms | ${seconds(plain.totalMs)} | ${plain.p99Ms} ms | ${factor} × |`;
  });
  const live = (['answer', 'fence'] as const).map((name) => {
    const { scriptAndLayoutMs, frames, p99FrameMs, maxFrameMs, framesOver } = results.throughTheHost[name];
    return `| ${name} | ${seconds(scriptAndLayoutMs)} | ${frames} | ${p99FrameMs} ms | ${maxFrameMs} ms | ${framesOver} |`;
  });
  const { messages, openMs, wholeMs, heapMB } = results.opening;
  return [
    '## The chat panel',
    '',
    'Measured with `npm run bench:chat` in headless Chromium on two shared cores, without a GPU. Answers arrive in',
    `deltas of four characters. The plain way parses and cleans the whole message at each delta (\`marked\` and DOMPurify);`,
    `it is run for every ${results.sampled}th delta and scaled. Times hold script and layout.`,
    '',
    '| each delta drawn by itself | deltas | ours | p99 | plain | p99 | |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows,
    '',
    `Through the host, ${results.deltasASecond} deltas a second, drawn once a frame:`,
    '',
    '| | script and layout | frames | p99 of a frame | longest | over 16.7 ms |',
    '|---|---:|---:|---:|---:|---:|',
    ...live,
    '',
    `A conversation of ${messages} messages opens in ${openMs.join(', ')} ms (three times, the first in a fresh page); all`,
    `of it is in the page after ${wholeMs.join(', ')} ms. The page’s heap before, and after`,
    `each was closed again: ${heapMB.join(', ')} MB.`,
  ].join('\n');
}
