import { setTimeout as sleep } from 'node:timers/promises';
import type { ServeHarness } from '../gateway/serve-harness.ts';
import { until } from '../gateway/until.ts';
import type { Responder } from '../upstream/upstream.ts';

/** A stream lasts for longer than the delay of a balancer's check. */
const FRAMES = 8;
const FRAME_MS = 400;

export interface LoadOptions {
  /** A request whose connection is closed before its answer begins is sent again once, as the official SDKs do. */
  readonly again?: boolean;
}

/** Streams, and one client without a stream: they send one request after the other, until they are stopped. */
export class Load {
  #going = true;
  readonly #failed: string[] = [];
  readonly #clients: readonly Promise<void>[];
  #streams = 0;
  #again = 0;

  constructor(harness: ServeHarness, url: string, clients: number, options: LoadOptions = {}) {
    const client = async (stream: boolean, number: number) => {
      await sleep(number * ((FRAMES * FRAME_MS) / clients));
      while (this.#going) await this.#send(harness, url, stream, options);
    };
    this.#clients = Array.from({ length: clients }, (_, number) => client(number > 0, number));
  }

  get streams(): number {
    return this.#streams;
  }

  /** Requests that were sent again. */
  get again(): number {
    return this.#again;
  }

  /** Waits until so many streams have ended. */
  async ended(streams: number): Promise<void> {
    await until(`${streams} streams have ended`, () => this.#streams >= streams || `${this.#streams} have ended`);
  }

  /** @returns what failed. */
  async end(): Promise<readonly string[]> {
    this.#going = false;
    await Promise.all(this.#clients);
    return this.#failed;
  }

  async #send(harness: ServeHarness, url: string, stream: boolean, { again }: LoadOptions): Promise<void> {
    try {
      const send = () => harness.send(url, { stream });
      const response = await send().catch((thrown) => {
        if (again !== true) throw thrown;
        this.#again += 1;
        return send();
      });
      const text = await response.text();
      if (response.status !== 200) this.#failed.push(`${response.status} ${text}`);
      else if (stream && !text.includes('[DONE]')) this.#failed.push(`a stream was cut after: ${text.slice(-300)}`);
      if (stream) this.#streams += 1;
      else await sleep(20);
    } catch (thrown) {
      const cause = thrown instanceof Error && thrown.cause !== undefined ? ` (${thrown.cause})` : '';
      this.#failed.push(`${thrown}${cause}`);
    }
  }
}

/** A stream of some seconds, or an answer at once. */
export const slowly: Responder = async ({ body }, response) => {
  const frame = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  if (body.stream !== true) {
    const message = { role: 'assistant', content: 'Hello' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let sent = 0; sent < FRAMES; sent += 1) {
    response.write(frame('Hello '));
    await sleep(FRAME_MS);
  }
  response.end(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
  );
};
