import type { ServerResponse } from 'node:http';
import { type Script, streamFrames } from '../../upstream/answers.ts';
import { type ReceivedRequest, startUpstream } from '../../upstream/upstream.ts';

export const KEY = 'key-of-the-day';

/** A server with a model for chat and one for code. */
export async function startProvider() {
  let scripts: readonly Script[] = [];
  let held: Promise<void> | undefined;
  const completions = new Map<string, string>();
  const upstream = await startUpstream(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${KEY}`)
      return sendJson(response, 401, { error: { message: 'No key.' } });
    if (request.path.endsWith('/models')) return sendJson(response, 200, { object: 'list', data: MODELS });
    if (request.path.endsWith('/chat/completions')) {
      const [script = { text: ['It works.'] }, ...rest] = scripts;
      scripts = rest;
      return await stream(response, streamFrames('chat', script), held);
    }
    if (request.path.endsWith('/completions')) {
      return await stream(response, streamFrames('fim-text', { text: [completionOf(request, completions)] }));
    }
    sendJson(response, 404, { error: { message: 'Not found' } });
  });
  const posts = (end: string) => upstream.requests.filter(({ path }) => path.endsWith(end));
  return {
    url: upstream.url,
    /** The answers of the chat, one a request. */
    answer: (...next: readonly Script[]) => {
      scripts = next;
    },
    /** Holds the rest of each answer back until the returned function is called. */
    hold: () => {
      const gate = Promise.withResolvers<void>();
      held = gate.promise;
      return () => {
        held = undefined;
        gate.resolve();
      };
    },
    /** The completion after a text. */
    complete: (after: string, text: string) => completions.set(after, text),
    chats: () => posts('/chat/completions'),
    completions: () => posts('/completions').filter(({ path }) => !path.includes('/chat/')),
    /** All that was sent, as a text. */
    sent: () => JSON.stringify(upstream.requests.map(({ body }) => body)),
    close: upstream.close,
  };
}

const MODELS = ['large-chat', 'qwen2.5-coder-7b'].map((id) => ({ id, object: 'model', owned_by: 'day' }));

function completionOf({ body }: ReceivedRequest, completions: ReadonlyMap<string, string>): string {
  const prompt = String(body.prompt);
  const [, before = prompt] = /<\|fim_prefix\|>([\s\S]*)<\|fim_suffix\|>/.exec(prompt) ?? [];
  for (const [after, text] of completions) if (before.endsWith(after)) return text;
  return '';
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function stream(response: ServerResponse, frames: readonly string[], held?: Promise<void>): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const [first = '', second = '', ...rest] = frames;
  response.write(`${first}\n\n${second}\n\n`);
  await held;
  response.end(rest.map((frame) => `${frame}\n\n`).join(''));
}
