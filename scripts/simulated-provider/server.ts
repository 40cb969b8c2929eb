import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { chatAnswer } from './chat-answer.ts';
import { continueCode, workspaceTexts } from './continue-code.ts';
import { SAMPLE_CODE } from './sample-answers.ts';

export const SIMULATED_CHAT_MODEL = 'simulated-chat';
/** The gateway accepts FIM models of the Codestral and Mercury families (spec 4.2). This one simulates Codestral. */
export const SIMULATED_FIM_MODEL = 'codestral-simulated';

export interface SimulatedProvider {
  /** Base URL with `/v1`. */
  readonly url: string;
  close(): Promise<void>;
}

interface SimulatedOptions {
  /** Absolute folder whose text the completions continue. */
  readonly workspace: string;
  /** Milliseconds between streamed pieces; 0 in tests. */
  readonly pace?: number;
}

/** A provider on loopback with Chat Completions and Mistral's FIM, for users without a key. */
export async function startSimulatedProvider(options: SimulatedOptions): Promise<SimulatedProvider> {
  const server = createServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The simulated provider got no port.');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, options: SimulatedOptions): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (request.method === 'GET' && path === '/v1/models') return json(response, 200, models());
  if (request.method !== 'POST') return json(response, 404, { error: { message: `No ${path} here.` } });
  const body = await readJson(request);
  if (body === undefined) return json(response, 400, { error: { message: 'The body is not a JSON object.' } });
  if (path === '/v1/chat/completions') {
    const text = chatAnswer(lastQuestion(body));
    return send(response, body, text, { object: 'chat.completion', pace: options.pace ?? 12 });
  }
  if (path === '/v1/fim/completions') {
    const texts = [...workspaceTexts(options.workspace), SAMPLE_CODE];
    const text = continueCode(texts, messageText(body.prompt), messageText(body.suffix));
    return send(response, body, text, { object: 'fim.completion', pace: (options.pace ?? 12) / 4 });
  }
  return json(response, 404, { error: { message: `No ${path} here.` } });
}

function models() {
  const item = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'simulated' });
  return { object: 'list', data: [item(SIMULATED_CHAT_MODEL), item(SIMULATED_FIM_MODEL)] };
}

async function send(
  response: ServerResponse,
  body: Record<string, unknown>,
  text: string,
  shape: { object: string; pace: number },
): Promise<void> {
  const usage = usageOf(body, text);
  const head = { id: `sim-${Date.now()}`, created: Math.floor(Date.now() / 1000), model: messageText(body.model) };
  if (body.stream !== true) {
    const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' };
    return json(response, 200, { ...head, object: shape.object, choices: [choice], usage });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const frame = (delta: object, finish: string | null, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ ...head, object: `${shape.object}.chunk`, choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`,
    );
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  frame({ role: 'assistant', content: '' }, null);
  for (const piece of text.match(/[\s\S]{1,6}/g) ?? []) {
    frame({ content: piece }, null);
    if (shape.pace > 0) await delay(shape.pace, undefined, { signal: gone.signal }).catch(() => undefined);
    if (gone.signal.aborted) return;
  }
  frame({}, 'stop', { usage });
  response.end('data: [DONE]\n\n');
}

function lastQuestion(body: Record<string, unknown>): string {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  const last: unknown = messages.findLast((message: { role?: unknown }) => message?.role === 'user');
  if (typeof last !== 'object' || last === null || !('content' in last)) return '';
  if (typeof last.content === 'string') return last.content;
  if (!Array.isArray(last.content)) return '';
  // The parts before it are context.
  return last.content.map((part: { text?: unknown }) => messageText(part?.text)).findLast((text) => text !== '') ?? '';
}

/** Estimate: four characters per token. */
function usageOf(body: Record<string, unknown>, text: string) {
  const prompt = Math.ceil(JSON.stringify(body.messages ?? body.prompt ?? '').length / 4);
  const completion = Math.ceil(text.length / 4);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

const messageText = (value: unknown): string => (typeof value === 'string' ? value : '');

async function readJson(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
