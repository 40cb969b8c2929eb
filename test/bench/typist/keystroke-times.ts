import { DEFAULT_COMPLETION_SETTINGS } from '../../../src/completion/document/completion-settings.ts';
import type { DocumentText } from '../../../src/completion/document/document-text.ts';
import { Suggester } from '../../../src/completion/suggester.ts';
import { VirtualClock } from '../../completion/virtual-clock.ts';
import { Oracle } from './oracle.ts';
import { oracleFill } from './oracle-fill.ts';
import type { Times } from './report.ts';

/** Other programs rarely delay the same key three times. */
const PASSES = 3;

/**
 * Cost of a key in a very large document: the time until the editor gets
 * its answer, and the time to prepare a request after the debounce. The same keys are typed
 * three times; the fastest time of each counts.
 */
export async function keystrokeTimes(files: readonly string[], keys: number): Promise<Times> {
  const passes: { onKey: number[]; preparing: number[] }[] = [];
  for (let pass = 0; pass < PASSES; pass++) passes.push(await typeOnce(files, keys));
  const fastest = (of: 'onKey' | 'preparing'): number[] =>
    (passes[0]?.[of] ?? []).map((_, key) =>
      Math.min(...passes.map((pass) => pass[of][key] ?? Number.POSITIVE_INFINITY)),
    );
  // The first keys are slower because their code is being compiled.
  const warm = fastest('onKey')
    .slice(100)
    .sort((a, b) => a - b);
  const preparing = fastest('preparing').sort((a, b) => a - b);
  const at = (values: number[], share: number): number => values[Math.floor(values.length * share)] ?? 0;
  return {
    lines: 20_000,
    keys: warm.length,
    p50: at(warm, 0.5),
    p99: at(warm, 0.99),
    worst: warm.at(-1) ?? 0,
    preparingP50: at(preparing, 0.5),
    preparingP99: at(preparing, 0.99),
  };
}

async function typeOnce(files: readonly string[], keys: number): Promise<{ onKey: number[]; preparing: number[] }> {
  const lines: string[] = [];
  while (lines.length < 20_000) lines.push(...files.flatMap((file) => file.split('\n')));
  const clock = new VirtualClock();
  const traffic = { requests: 0, sent: 0, tokens: 0, tokensBeforeStop: 0, shared: 0, sharable: 0 };
  const suggester = new Suggester({
    fill: () => oracleFill(new Oracle(files, 10), clock, 150, traffic),
    model: () => ({ ref: 'oracle/fim', contextTokens: 32_000 }),
    settings: () => DEFAULT_COMPLETION_SETTINGS,
    clock,
  });
  const typed = (files[0] ?? '').slice(0, keys);
  const position = { line: 10_000, character: 0 };
  lines.splice(position.line, 0, '');
  const onKey: number[] = [];
  const preparing: number[] = [];
  for (const character of typed) {
    const start = { ...position };
    if (character === '\n') {
      position.line++;
      position.character = 0;
      lines.splice(position.line, 0, '');
    } else {
      lines[position.line] += character;
      position.character++;
    }
    const document: DocumentText = {
      uri: 'file:///bench/large.ts',
      path: 'large.ts',
      languageId: 'typescript',
      version: 1,
      eol: '\n',
      lineCount: lines.length,
      lineAt: (line) => lines[line] ?? '',
    };
    const began = performance.now();
    suggester.documentChanged({ uri: document.uri, changes: [{ start, end: start, text: character }] }, 1);
    void suggester.suggest({ document, position: { ...position }, trigger: 'automatic' }, new AbortController().signal);
    onKey.push(performance.now() - began);
    const requests = traffic.requests;
    const before = performance.now();
    await clock.pass(60);
    if (traffic.requests > requests) preparing.push(performance.now() - before);
    await clock.pass(60);
  }
  suggester.dispose();
  return { onKey, preparing };
}
