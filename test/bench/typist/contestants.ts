import { type Clock, delay } from '../../../src/completion/document/clock.ts';
import {
  type CompletionModel,
  type CompletionSettings,
  DEFAULT_COMPLETION_SETTINGS,
} from '../../../src/completion/document/completion-settings.ts';
import {
  type DocumentText,
  type Position,
  textAfter,
  textBefore,
} from '../../../src/completion/document/document-text.ts';
import type { Suggestion } from '../../../src/completion/document/suggestion.ts';
import type { CompletionRequest } from '../../../src/completion/request/completion-sender.ts';
import { Suggester } from '../../../src/completion/suggester.ts';
import type { Contestant } from './editor.ts';

const URI = 'file:///bench/fixture.ts';
/** Codestral's price, so that speculation is not free. */
const COST = { input: 0.3, output: 0.9 };

/** The engine as it ships, with its default settings. */
export function ours(
  fill: CompletionRequest,
  clock: Clock,
  settings: Partial<CompletionSettings> = {},
  model: Partial<CompletionModel> = {},
): Contestant {
  const suggester = new Suggester({
    fill: () => fill,
    model: () => ({ ref: 'oracle/fim', contextTokens: 32_000, cost: COST, ...model }),
    settings: () => ({ ...DEFAULT_COMPLETION_SETTINGS, ...settings }),
    clock,
  });
  return {
    edited: (edit, version) => suggester.documentChanged({ uri: URI, changes: [edit] }, version),
    suggest: (document, position, signal) => suggester.suggest({ document, position, trigger: 'automatic' }, signal),
    onDidGrow: (listener) => {
      const subscription = suggester.onDidGrow(listener);
      return () => subscription.dispose();
    },
  };
}

/**
 * A plain completion provider: 150 ms of debounce, one request at a time (the
 * one before is aborted), no memory, the whole answer awaited, shown as it came.
 */
export function plain(fill: CompletionRequest, clock: Clock): Contestant {
  let running: AbortController | undefined;
  let id = 0;
  async function suggest(
    document: DocumentText,
    position: Position,
    signal: AbortSignal,
  ): Promise<readonly Suggestion[]> {
    if (!(await delay(clock, 150, signal))) return [];
    running?.abort();
    running = new AbortController();
    const stop = AbortSignal.any([signal, running.signal]);
    let insertText = '';
    const fimRequest = {
      prefix: textBefore(document, position, 8_000),
      suffix: textAfter(document, position, 2_800),
      maxTokens: 256,
    };
    for await (const event of fill(fimRequest, stop)) {
      if (stop.aborted) return [];
      if (event.type === 'text') insertText += event.text;
    }
    if (insertText.trim() === '') return [];
    return [{ id: id++, insertText, replaceBefore: 0, replaceAfter: 0, growing: false, requestAfterAccept: false }];
  }
  return { suggest, edited: () => undefined, onDidGrow: () => () => undefined };
}
