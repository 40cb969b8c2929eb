import type { CompletionRequest } from '../../src/completion/request/completion-sender.ts';
import type { Oracle } from '../bench/typist/oracle.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface LlamaOptions {
  readonly slots: number;
  readonly tokensPerSecond: number;
  /** Of the prompt. */
  readonly promptTokensPerSecond: number;
}

/** Requests as a server with slots sees them. */
export interface LlamaTraffic {
  requests: number;
  /** The most requests that were open at a time. */
  mostOpen: number;
  /** Requests that waited for a slot. */
  queued: number;
  cancelled: number;
  /** Tokens that were written after the client had closed the connection. */
  tokensAfterClose: number;
  /** Tokens of prompts that were computed, and those that the cache of a slot had. */
  promptTokens: number;
  cachedTokens: number;
}

/**
 * llama.cpp as a `CompletionRequest` on a virtual clock: a request waits for a free slot, the beginning of its prompt that
 * the slot has is not computed again, and a closed connection frees the slot with the next token.
 */
export function llamaSlots(oracle: Oracle, clock: VirtualClock, options: LlamaOptions) {
  const traffic: LlamaTraffic = {
    requests: 0,
    mostOpen: 0,
    queued: 0,
    cancelled: 0,
    tokensAfterClose: 0,
    promptTokens: 0,
    cachedTokens: 0,
  };
  const free = Array.from({ length: options.slots }, () => ({ prompt: '' }));
  const waiting: ((slot: { prompt: string }) => void)[] = [];
  let open = 0;
  const release = (slot: { prompt: string }): void => {
    const next = waiting.shift();
    if (next) next(slot);
    else free.push(slot);
  };
  const take = (): Promise<{ prompt: string }> | { prompt: string } => {
    const slot = free.shift();
    if (slot) return slot;
    traffic.queued += 1;
    return new Promise((resolve) => waiting.push(resolve));
  };
  const fill: CompletionRequest = async function* fill(fimRequest, signal) {
    traffic.requests += 1;
    open += 1;
    traffic.mostOpen = Math.max(traffic.mostOpen, open);
    const closed = (): void => {
      open -= 1;
    };
    signal.addEventListener('abort', closed, { once: true });
    const slot = await take();
    try {
      if (signal.aborted) return;
      const prompt = `${fimRequest.prefix}\n${fimRequest.suffix}`;
      const cached = commonStart(slot.prompt, prompt);
      slot.prompt = prompt;
      traffic.cachedTokens += Math.floor(cached / 4);
      const computed = Math.ceil((prompt.length - cached) / 4);
      traffic.promptTokens += computed;
      for (let left = computed; left > 0 && !signal.aborted; left -= 512) {
        await clock.sleep((Math.min(left, 512) / options.promptTokensPerSecond) * 1_000);
      }
      const { text } = oracle.answer(fimRequest.prefix, fimRequest.suffix, fimRequest.maxTokens, fimRequest.stop);
      for (let at = 0; at < text.length && !signal.aborted; at += 4) {
        await clock.sleep(1_000 / options.tokensPerSecond);
        if (signal.aborted) traffic.tokensAfterClose += 1;
        yield { type: 'text', part: 0, text: text.slice(at, at + 4) };
      }
      if (!signal.aborted)
        yield { type: 'finish', reason: text.length >= fimRequest.maxTokens * 4 ? 'length' : 'stop' };
    } finally {
      if (signal.aborted) traffic.cancelled += 1;
      else closed();
      signal.removeEventListener('abort', closed);
      release(slot);
    }
  };
  return { fill, traffic };
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}
