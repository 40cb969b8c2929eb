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
import { countSteps, type MadeCall, nextStep, type Toolbox } from './scripted-model.ts';
import { STRICT_VENDORS, signCalls } from './vendors/strict-vendors.ts';
import { checkVendor } from './vendors/vendor-refusal.ts';

export type StrictFormat = 'chat' | 'responses' | 'messages';

/** A request that was answered, as the model saw it. */
export interface SeenRequest {
  readonly format: StrictFormat;
  /** The vendor of the path, an id of `STRICT_VENDORS`; an empty text for the general provider. */
  readonly vendor: string;
  readonly body: JsonObject;
  readonly model: ModelRequest;
}

export interface StrictProvider {
  /**
   * `<url>/v1` is the base URL of each of the three formats, `<url>/mistral/v1` that of Mistral. `<url>/vendors/<id>/v1`
   * is that of a vendor of `STRICT_VENDORS`: it has the vendor's rules and accepts only its own opaque reasoning.
   */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** The vendors' messages for requests that they refuse, and calls of tools that are not offered. */
  readonly refusals: readonly string[];
  readonly made: readonly MadeCall[];
  /**
   * Forgets all requests and begins the task with a client's tools. Without tools, each request gets a short text.
   * @param seals opaque reasoning that this provider accepts as its own.
   */
  begin(toolbox: Toolbox | undefined, seals?: readonly string[], course?: Course): void;
  close(): Promise<void>;
}

/** Events in the middle of the task, by its steps. */
export interface Course {
  /** The model answers with text before these steps, once for each, as if its part of the task were done. */
  readonly pauses?: readonly number[];
  /** Whether a vendor is overloaded at a step. */
  readonly overloaded?: (vendor: string, step: number) => boolean;
}

/** The text of an answer before the task is done. */
export const PAUSE = 'PART-DONE: this part of the task is done.';

/** Limit of output tokens of the vendors’ models. */
export const VENDOR_OUTPUT = 8192;
/** Models of the vendors that do not reason. */
const PLAIN_MODELS = /gpt-4|mistral-large|llama/;

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
    begin: (toolbox, seals = [], course = {}) => {
      state.reset(toolbox, seals, course);
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
  #course: Course = {};
  #pauses: number[] = [];
  /** Opaque reasoning by the vendor that issued it. */
  #seals = new Map<string, Set<string>>();
  #items = new Map<string, IssuedItem>();

  reset(toolbox: Toolbox | undefined, seals: readonly string[], course: Course): void {
    this.#toolbox = toolbox;
    this.#course = course;
    this.#pauses = [...(course.pauses ?? [])];
    this.requests = [];
    this.refusals = [];
    this.made = [];
    this.#seals = new Map([['', new Set(seals)]]);
    this.#items = new Map();
  }

  answer(request: ReceivedRequest, response: ServerResponse): void {
    const path = request.path.split('?')[0] ?? '';
    const format = strictFormat(path);
    if (format === undefined) return fail(response, 404, `Unknown path ${path}`);
    const vendor = /^\/vendors\/(\w+)\//.exec(path)?.[1] ?? '';
    try {
      if (this.requests.length + this.refusals.length > MOST_REQUESTS) throw new Refusal('Too many requests.');
      if (path.startsWith('/mistral/')) checkMistralIds(request.body);
      const seals = this.#seals.get(vendor) ?? new Set();
      this.#seals.set(vendor, seals);
      const model = readModelRequest(format, vendor, request.body, { seals, items: this.#items });
      if (this.#course.overloaded?.(vendor, countSteps(model, this.#toolbox)) === true && model.tools.length > 0) {
        return fail(response, 503, 'Overloaded');
      }
      this.requests.push({ format, vendor, body: request.body, model });
      const mistral = path.startsWith('/mistral/') || vendor === 'mistral';
      this.#send({ format, vendor, body: request.body, model }, response, mistral, seals);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refusals.push(`${vendor || format}: ${error.message}`);
      fail(response, 400, error.message);
    }
  }

  #send({ format, vendor, body, model }: SeenRequest, response: ServerResponse, mistral: boolean, seals: Set<string>) {
    const seal = Buffer.from(randomUUID()).toString('base64');
    const step = this.#pausesAt(model)
      ? { script: { text: [PAUSE], ids: `pause${this.requests.length}` }, calls: [] }
      : nextStep(model, this.#toolbox, seal, mistral);
    if ('missing' in step) {
      throw new Refusal(`The model needs the tool ${step.missing}. Offered: ${model.tools.map(({ name }) => name)}`);
    }
    if ('seal' in step.script && step.script.seal === seal) seals.add(seal);
    if (vendor === 'google') seals.add(seal);
    // A repeated request (a lost connection, a second attempt) makes the same calls.
    for (const call of step.calls) if (!this.made.some(({ id }) => id === call.id)) this.made.push(call);
    if (format === 'responses') this.#store(body, step.script);
    const signed = (text: string): string => (vendor === 'google' ? signCalls(text, seal) : text);
    if (!model.stream) {
      response.setHeader('content-type', 'application/json');
      response.end(signed(JSON.stringify(wholeBody(format, step.script))));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const script: Script = {
      ...step.script,
      ...(model.streamedUsage ? {} : { usage: null }),
      ...(mistral ? { wholeCalls: true } : {}),
    };
    const frames = streamFrames(format, script).map((frame) => `${signed(frame)}\n\n`);
    response.end(frames.join(''));
  }

  /** Whether the model ends its part here; it does so once for each pause. */
  #pausesAt(model: ModelRequest): boolean {
    if (model.tools.length === 0 || this.#pauses[0] !== countSteps(model, this.#toolbox)) return false;
    this.#pauses.shift();
    return true;
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

function readModelRequest(format: StrictFormat, vendor: string, body: JsonObject, issued: Issued): ModelRequest {
  const rules = STRICT_VENDORS[vendor];
  const reasons = !PLAIN_MODELS.test(String(body.model));
  if (rules !== undefined) checkVendor(rules, body, { seals: issued.seals, reasons, maxOutput: VENDOR_OUTPUT });
  switch (format) {
    case 'chat': {
      if (rules === undefined) return readChatRequest(body);
      // The vendor's rules have its fields. Its models reason unless the request turns it off.
      const model = readChatRequest(body, new Set(Object.keys(body)));
      return { ...model, thinks: reasons && body.reasoning_effort !== 'none', seals: vendor === 'google' };
    }
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
