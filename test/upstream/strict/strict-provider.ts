import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { isObject, type JsonObject, objectOrEmpty } from '../../../src/base/json.ts';
import { type Script, streamFrames, wholeBody } from '../answers.ts';
import { type ReceivedRequest, startUpstream } from '../upstream.ts';
import { checkMistralIds, readChatRequest } from './chat.ts';
import { readMessagesRequest } from './messages.ts';
import type { Issued, IssuedItem, ModelRequest } from './model-request.ts';
import { Refusal } from './refusal.ts';
import { readResponsesRequest } from './responses.ts';
import { type MadeCall, nextStep, type Toolbox } from './scripted-model.ts';

export type StrictFormat = 'chat' | 'responses' | 'messages';

/** A request that was answered, as the model saw it. */
export interface SeenRequest {
  readonly format: StrictFormat;
  readonly body: JsonObject;
  readonly model: ModelRequest;
}

export interface StrictProvider {
  /** `<url>/v1` is the base URL of each of the three formats, `<url>/mistral/v1` that of Mistral. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** The vendors' messages for requests that they refuse, and calls of tools that are not offered. */
  readonly refusals: readonly string[];
  readonly made: readonly MadeCall[];
  /**
   * Forgets all requests and begins the task with a client's tools. Without tools, each request gets a short text.
   * @param seals opaque reasoning that this provider accepts as its own.
   */
  begin(toolbox: Toolbox | undefined, seals?: readonly string[]): void;
  close(): Promise<void>;
}

/** A client that repeats a request for ever must not fill the disk. */
const MOST_REQUESTS = 60;

/** A provider of the three formats that refuses what the vendors refuse, with the scripted model of the task. */
export async function startStrictProvider(): Promise<StrictProvider> {
  const state = new Task();
  const upstream = await startUpstream((request, response) => state.answer(request, response));
  return {
    url: upstream.url,
    get requests() {
      return state.requests;
    },
    get refusals() {
      return state.refusals;
    },
    get made() {
      return state.made;
    },
    begin: (toolbox, seals = []) => {
      state.reset(toolbox, seals);
      upstream.forget();
    },
    close: () => upstream.close(),
  };
}

class Task {
  requests: SeenRequest[] = [];
  refusals: string[] = [];
  made: MadeCall[] = [];
  #toolbox: Toolbox | undefined;
  #seals = new Set<string>();
  #items = new Map<string, IssuedItem>();

  reset(toolbox: Toolbox | undefined, seals: readonly string[]): void {
    this.#toolbox = toolbox;
    this.requests = [];
    this.refusals = [];
    this.made = [];
    this.#seals = new Set(seals);
    this.#items = new Map();
  }

  answer(request: ReceivedRequest, response: ServerResponse): void {
    const path = request.path.split('?')[0] ?? '';
    const format = strictFormat(path);
    if (format === undefined) return fail(response, 404, `Unknown path ${path}`);
    try {
      if (this.requests.length + this.refusals.length > MOST_REQUESTS) throw new Refusal('Too many requests.');
      const issued = { seals: this.#seals, items: this.#items };
      if (path.startsWith('/mistral/')) checkMistralIds(request.body);
      const model = readModelRequest(format, request.body, issued);
      this.requests.push({ format, body: request.body, model });
      this.#send(format, request.body, model, response, path.startsWith('/mistral/'));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refusals.push(`${format}: ${error.message}`);
      fail(response, 400, error.message);
    }
  }

  #send(format: StrictFormat, body: JsonObject, model: ModelRequest, response: ServerResponse, mistral: boolean): void {
    const seal = Buffer.from(randomUUID()).toString('base64');
    const step = nextStep(model, this.#toolbox, seal, mistral);
    if ('missing' in step) {
      throw new Refusal(`The model needs the tool ${step.missing}. Offered: ${model.tools.map(({ name }) => name)}`);
    }
    if (step.script.seal) this.#seals.add(seal);
    // A repeated request (a lost connection, a second attempt) makes the same calls.
    for (const call of step.calls) if (!this.made.some(({ id }) => id === call.id)) this.made.push(call);
    if (format === 'responses') this.#store(body, step.script);
    if (!model.stream) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(wholeBody(format, step.script)));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const script: Script = {
      ...step.script,
      ...(model.streamedUsage ? {} : { usage: null }),
      ...(mistral ? { wholeCalls: true } : {}),
    };
    response.end(
      streamFrames(format, script)
        .map((frame) => `${frame}\n\n`)
        .join(''),
    );
  }

  #store(body: JsonObject, script: Script): void {
    let reasoning: string | undefined;
    const { output } = wholeBody('responses', script);
    for (const item of Array.isArray(output) ? output.filter(isObject) : []) {
      const issued = { item, stored: body.store !== false };
      this.#items.set(String(item.id), reasoning === undefined ? issued : { ...issued, reasoning });
      reasoning = item.type === 'reasoning' ? String(item.id) : undefined;
    }
  }
}

function readModelRequest(format: StrictFormat, body: JsonObject, issued: Issued): ModelRequest {
  switch (format) {
    case 'chat':
      return readChatRequest(body);
    case 'messages':
      return readMessagesRequest(body, issued);
    case 'responses':
      return readResponsesRequest(body, issued);
  }
}

function strictFormat(path: string): StrictFormat | undefined {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  return path.endsWith('/messages') ? 'messages' : undefined;
}

function fail(response: ServerResponse, status: number, message: string): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  const error = { type: 'invalid_request_error', code: null, param: null, message };
  response.end(JSON.stringify({ type: 'error', error: objectOrEmpty(error) }));
}
