import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import { BITS, type CatalogData, type CatalogRow } from '../../src/catalog/public/catalog.ts';
import { type Script, streamFrames, wholeBody } from '../upstream/answers.ts';
import { Refusal } from '../upstream/strict/refusal.ts';
import { STRICT_VENDORS, signCalls } from '../upstream/strict/vendors/strict-vendors.ts';
import { checkVendor } from '../upstream/strict/vendors/vendor-refusal.ts';
import type { ReceivedRequest } from '../upstream/upstream.ts';
import { type Client, readStream, readWhole } from './client-answers.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

const MAX_OUTPUT = 8192;
const PATHS = { messages: '/v1/messages', responses: '/v1/responses', chat: '/v1/chat/completions' };
const FOLDERS = Object.keys(STRICT_VENDORS).filter((name) => name !== 'openai');
/** The id of the model that reasons, the one that does not, and the efforts, by provider. */
const MODELS: Readonly<Record<string, readonly [reasoning: string, plain: string, efforts: string]>> = {
  anthropic: ['claude-sonnet-4-6', 'claude-haiku-4-6', 'low,medium,high,max'],
  responses: ['gpt-5', 'gpt-4o', 'minimal,low,medium,high'],
  azure: ['gpt-5', 'gpt-4o', 'low,medium,high'],
  deepseek: ['deepseek-v4', 'deepseek-plain', 'low,high,max'],
  moonshotai: ['kimi-k3', 'kimi-plain', 'low,high,max'],
  google: ['gemini-3-pro', 'gemini-3-plain', 'low,medium,high'],
  groq: ['openai/gpt-oss-120b', 'llama-3', 'low,medium,high'],
  xai: ['grok-4.6', 'grok-plain', 'low,medium,high,xhigh'],
  zai: ['glm-5', 'glm-plain', 'low,high,max'],
};
const NPM: Readonly<Record<string, string>> = {
  anthropic: '@ai-sdk/anthropic',
  responses: '@ai-sdk/openai',
  azure: '@ai-sdk/azure',
  mistral: '@ai-sdk/mistral',
};
/** Fallbacks to another vendor, for models whose upstream fails. */
const FALLBACK = {
  'anthropic/r': ['azure/r'],
  'responses/r': ['anthropic/r'],
  'google/r': ['mistral/r'],
  'zai/r': ['responses/p'],
};
const POOLS = { 'team/any': { models: ['anthropic/r', 'deepseek/r', 'responses/r', 'google/r'], affinity: false } };
const NAMES: readonly string[] = [...FOLDERS.flatMap((name) => [`${name}/r`, `${name}/p`]), 'team/any'];

function modelsOf(folder: string): readonly [reasoning: string, plain: string, efforts: string] {
  return MODELS[folder] ?? ['up-r', 'up-p', 'low,medium,high'];
}

function catalog(): CatalogData {
  const provider = (folder: string) => {
    const [, , efforts] = modelsOf(folder);
    const bits = BITS.toolCall | BITS.temperature | BITS.attachment | (1 << BITS.input) | (1 << (BITS.input + 1));
    const row = (reasoning: boolean): CatalogRow => [
      ...(['m', bits | (reasoning ? BITS.reasoning : 0), 128_000, MAX_OUTPUT, 0, 0, 0] as const),
      reasoning ? efforts : 0,
    ];
    const models = { r: row(true), p: row(false) };
    return { name: folder, npm: NPM[folder] ?? '@ai-sdk/openai-compatible', env: [], models };
  };
  const providers = Object.fromEntries(FOLDERS.map((folder) => [folder, provider(folder)]));
  return { source: 'test', licence: '', date: '', providers };
}

function config(url: string): JsonObject {
  const provider = (folder: string): JsonObject => {
    const [reasoning, plain] = modelsOf(folder);
    const modalities = { input: ['text', 'image', 'pdf'], output: ['text'] };
    const cost = pricesOf(folder);
    const models = { r: { id: reasoning, modalities, cost }, p: { id: plain, modalities, cost } };
    const npm = NPM[folder];
    return { ...(npm === undefined ? {} : { npm }), options: { baseURL: `${url}/${folder}/v1`, apiKey: 'k' }, models };
  };
  return {
    provider: Object.fromEntries(FOLDERS.map((folder) => [folder, provider(folder)])),
    gateway: { fallback: FALLBACK, pools: POOLS },
  };
}

/** USD per million tokens. Each vendor has its own. */
function pricesOf(folder: string): { input: number; output: number; cache_read: number } {
  const number = FOLDERS.indexOf(folder) + 1;
  return { input: number, output: 3 * number + 0.5, cache_read: number / 8 };
}

/** What a vendor bills for an answer. */
interface Bill {
  readonly folder: string;
  readonly nano: number;
  /** The answer contains the tokens. */
  readonly reported: boolean;
}

/** Tokens of an image (Anthropic, "Vision", at most). */
const IMAGE_TOKENS = 1_600;
/** The part of a bill by which an estimate may differ. */
const TOLERANCE = 0.05;

/** The tokens of an answer by a tokenizer that has four characters in each token. */
function tokensOf(body: JsonObject, script: Script): { readonly input: number; readonly output: number } {
  const text = JSON.stringify(body);
  const images = text.split(PNG).length - 1;
  const { reasoning = [], text: said = [], tools = [] } = script;
  const answer = [...reasoning, ...said, ...tools.flatMap(({ name, arguments: input }) => [name, ...input])].join('');
  const input = Math.ceil((Buffer.byteLength(text) - images * PNG.length) / 4) + images * IMAGE_TOKENS;
  return { input, output: Math.ceil(answer.length / 4) };
}

/** One request of a walk. */
interface Step {
  readonly model: string;
  readonly stream: boolean;
  readonly user: 'text' | 'blank' | 'image' | 'marked' | 'system' | 'none';
  readonly effort: string | undefined;
  readonly maxTokens: number | undefined;
  readonly fields: number;
  readonly answer: 'text' | 'blank' | 'calls' | 'call' | 'vendor';
  readonly id: 'counted' | 'unique' | 'long' | 'odd';
  readonly input: string;
  readonly result: 'text' | 'blank' | 'missing';
  /** What the answer says about its tokens. */
  readonly usage: 'reported' | 'cached' | 'none';
  /** The first upstream fails, if the model has a fallback. */
  readonly fails: boolean;
}

export interface Walk {
  readonly client: Client;
  readonly steps: readonly Step[];
}

export const WALKS: fc.Arbitrary<Walk> = fc.record({
  client: fc.constantFrom<Client>('messages', 'responses', 'chat'),
  steps: fc.array(
    fc.record({
      model: fc.constantFrom(...NAMES),
      stream: fc.boolean(),
      user: fc.constantFrom('text', 'text', 'blank', 'image', 'marked', 'system', 'none'),
      effort: fc.constantFrom(undefined, 'none', 'minimal', 'low', 'high', 'xhigh', 'max'),
      maxTokens: fc.constantFrom(undefined, 100, 32_000),
      fields: fc.nat(7),
      answer: fc.constantFrom('text', 'blank', 'calls', 'call', 'vendor'),
      id: fc.constantFrom('counted', 'unique', 'long', 'odd'),
      input: fc.constantFrom('{"a":"x"}', '', '{"a":"cut', '"text"', '[1]'),
      result: fc.constantFrom('text', 'text', 'blank', 'missing'),
      usage: fc.constantFrom('reported', 'cached', 'none'),
      fails: fc.boolean(),
    }) as fc.Arbitrary<Step>,
    { minLength: 2, maxLength: 12 },
  ),
});

const SCHEMA = {
  type: 'object',
  properties: {
    a: { type: ['string', 'null'], pattern: '^[^\\p{Cc}]*$', format: 'uuid' },
    b: { type: 'string', anyOf: [{ const: 'x' }, { $ref: '#/$defs/c' }] },
    d: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
    e: { type: 'object', properties: null, required: null },
  },
  required: null,
  $defs: { c: { type: 'string', minLength: 1 } },
};
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const MARK = { cache_control: { type: 'ephemeral' } };

/** Walks conversations between strict vendors. */
export class VendorWalks {
  readonly #gateway: TestGateway;
  /** The opaque reasoning that each vendor has issued. */
  readonly #seals = new Map<string, Set<string>>();
  #step: Step | undefined;
  #answers = 0;
  #failed = false;
  readonly #refusals: string[] = [];
  /** What the vendors bill for the requests of this step. */
  readonly #bills: Bill[] = [];
  /** The number of the last row of the ledger that was compared. */
  #lastRow = 0;
  #last = '';

  constructor(gateway: TestGateway) {
    this.#gateway = gateway;
    gateway.upstream.respond((request, response) => this.#respond(request, response));
  }

  static async start(): Promise<VendorWalks> {
    return new VendorWalks(await startTestGateway({ config, catalog: catalog() }));
  }

  close(): Promise<void> {
    return this.#gateway.close();
  }

  /** @throws AssertionError with the refusal of the vendor, or what was lost. */
  async walk({ client, steps }: Walk): Promise<void> {
    let history: unknown[] = [];
    const said: string[] = [];
    for (const [index, { user, ...others }] of steps.entries()) {
      // After an interrupted call, the user says something.
      const interrupted = steps[index - 1]?.result === 'missing';
      const step = { ...others, user: interrupted && user === 'none' ? ('text' as const) : user };
      this.#step = step;
      this.#failed = false;
      this.#refusals.length = 0;
      this.#bills.length = 0;
      this.#gateway.upstream.forget();
      history = [...history, ...userMessages(client, step, `U${index}.`, index === 0)];
      if (step.user === 'text' || step.user === 'marked' || step.user === 'system') said.push(`U${index}.`);
      const response = await this.#gateway.post(PATHS[client], { ...requestOf(client, step, history) });
      const text = await response.text();
      assert.deepEqual(this.#refusals, []);
      assert.equal(response.status, 200, text);
      this.#compareBills();
      for (const marker of said) assert.ok(this.#last.includes(marker), `${marker} is lost: ${this.#last}`);
      const result = (id: string): string => (step.result === 'blank' ? ' ' : `R${index}.${id.slice(0, 4)}`);
      const answer = step.stream
        ? readStream(client, text, result)
        : readWhole(client, objectOrEmpty(JSON.parse(text)), result);
      history = [...history, ...(step.result === 'missing' ? answer.slice(0, Math.max(1, answer.length - 1)) : answer)];
      if (step.answer === 'vendor') history.push(...vendorHistory(client));
    }
  }

  /** Each row of the ledger is the vendor's bill, or it is marked as an estimate that is near it. */
  #compareBills(): void {
    const rows = this.#gateway.rows(this.#lastRow);
    this.#lastRow = Number(rows.at(-1)?.seq ?? this.#lastRow);
    const charged = rows.filter(({ cost_nano: nano }) => nano !== null);
    assert.equal(charged.length, this.#bills.length, 'rows with a cost');
    for (const [index, { folder, nano, reported }] of this.#bills.entries()) {
      const { provider, cost_nano: own, estimated } = charged[index] ?? {};
      assert.deepEqual([provider, estimated], [folder, reported ? 0 : 1]);
      const allowed = reported ? 0 : nano * TOLERANCE;
      assert.ok(Math.abs(Number(own) - nano) <= allowed, `${folder} bills ${nano} nano-USD, the ledger has ${own}`);
    }
  }

  #respond(request: ReceivedRequest, response: ServerResponse): void {
    // A question about the window of a model.
    if (request.method === 'GET' || request.path.includes('/api/')) return void response.writeHead(404).end();
    const folder = request.path.split('/')[1] ?? '';
    const vendor = STRICT_VENDORS[folder] ?? assert.fail(folder);
    const step = this.#step ?? assert.fail();
    const [reasoning] = modelsOf(folder);
    if (step.fails && !this.#failed && step.model in FALLBACK) {
      this.#failed = true;
      response.writeHead(503, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"Overloaded"}}');
      return;
    }
    this.#last = JSON.stringify(request.body);
    const seals = this.#seals.get(folder) ?? new Set();
    this.#seals.set(folder, seals);
    try {
      const reasons = request.body.model === reasoning;
      checkVendor(vendor, request.body, { seals, reasons, maxOutput: MAX_OUTPUT });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#refusals.push(`${error.message} ${this.#last.slice(0, 3000)}`);
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { type: 'invalid_request_error', message: error.message } }));
      return;
    }
    this.#answer(folder, vendor.format, step, request, response, seals);
  }

  #answer(
    folder: string,
    format: 'chat' | 'messages' | 'responses',
    step: Step,
    request: ReceivedRequest,
    response: ServerResponse,
    seals: Set<string>,
  ): void {
    this.#answers += 1;
    const seal = `seal/${folder}+${this.#answers}=`;
    const stream = request.body.stream === true;
    const offered = arrayOrEmpty(request.body.tools).length > 0;
    const wanted = step.answer === 'calls' ? 2 : step.answer === 'call' ? 1 : 0;
    const count = offered && request.body.tool_choice !== 'none' ? wanted : 0;
    // Claude and OpenAI make only arguments that are JSON objects.
    const input = format === 'messages' && !step.input.startsWith('{"a":"x') ? '{}' : step.input;
    const tools = Array.from({ length: count }, (_, index) => ({
      id: idOf(folder, step.id, this.#answers, index),
      name: 'f',
      arguments: [input],
    }));
    const text = step.answer === 'blank' ? [' \n'] : [`A${this.#answers}.`];
    const reasoning = request.body.model === modelsOf(folder)[0] ? { reasoning: ['Hm.'], seal } : {};
    const said: Script = { ...reasoning, text, ...(count > 0 ? { tools } : {}), ids: `a${this.#answers}x` };
    const script: Script = { ...said, usage: this.#bill(folder, request.body, step.usage, said) };
    seals.add(seal);
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    const frames = stream ? streamFrames(format, script) : [JSON.stringify(wholeBody(format, script))];
    const signed = folder === 'google' ? frames.map((frame) => signCalls(frame, seal)) : frames;
    response.end(stream ? signed.map((frame) => `${frame}\n\n`).join('') : signed.join(''));
  }

  /** Bills an answer. @returns the usage that the answer reports; null for none. */
  #bill(folder: string, body: JsonObject, kind: Step['usage'], script: Script): NonNullable<Script['usage']> | null {
    const { input, output } = tokensOf(body, script);
    const cached = kind === 'cached' ? Math.floor(input / 3) : 0;
    const prices = pricesOf(folder);
    const micro = (input - cached) * prices.input + cached * prices.cache_read + output * prices.output;
    this.#bills.push({ folder, nano: Math.round(micro * 1_000), reported: kind !== 'none' });
    return kind === 'none' ? null : { input, output, cached };
  }
}

function idOf(folder: string, kind: Step['id'], answer: number, index: number): string {
  if (folder === 'mistral') return `c${answer}x${index}`.padEnd(9, 'a').slice(0, 9);
  if (kind === 'counted') return `call_${index}`;
  if (kind === 'long' && !['anthropic', 'azure', 'responses'].includes(folder))
    return `${'x'.repeat(90)}${answer}_${index}`;
  return kind === 'odd' && folder !== 'anthropic' ? `functions.f:${answer}${index}` : `call_${answer}_${index}`;
}

/** The message of the user, if the step has one. A conversation begins with one. */
function userMessages(client: Client, { user }: Step, marker: string, first: boolean): unknown[] {
  if (user === 'none') return first ? [{ role: 'user', content: 'Begin.' }] : [];
  if (user === 'blank') return [{ role: 'user', content: first ? 'Begin.' : `${marker} ` }];
  if (user === 'system' && client !== 'messages') {
    const system = { role: 'system', content: marker };
    return first ? [system, { role: 'user', content: 'Begin.' }] : [system];
  }
  const type = client === 'responses' ? 'input_text' : 'text';
  const mark = user === 'marked' && client !== 'responses' ? MARK : {};
  const parts: JsonObject[] = [{ type, text: marker, ...mark }];
  if (user === 'image') parts.push(imagePart(client));
  return [{ role: 'user', content: parts }];
}

/** A PNG that is declared as JPEG. */
function imagePart(client: Client): JsonObject {
  const url = `data:image/jpeg;base64,${PNG}`;
  if (client === 'chat') return { type: 'image_url', image_url: { url } };
  if (client === 'responses') return { type: 'input_image', image_url: url };
  return { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: PNG } };
}

function requestOf(client: Client, step: Step, history: readonly unknown[]): JsonObject {
  const { model, stream, effort, maxTokens, fields } = step;
  // A body of the same format is the client's own: its fields and limits are those of the vendor.
  const own = formatOf(model) === client;
  const limit = own || maxTokens === undefined ? 100 : maxTokens;
  // Messages has no temperature together with thinking.
  const thinks = client === 'messages' && effort !== undefined && effort !== 'none';
  const options = own ? {} : optionsOf(client, thinks ? fields & 5 : fields);
  if (client === 'chat') {
    const tools = [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }];
    const reasoning = effort === undefined ? {} : { reasoning_effort: effort };
    return { model, stream, messages: history, tools, ...options, ...(own ? {} : { max_tokens: limit }), ...reasoning };
  }
  if (client === 'responses') {
    const tools = [{ type: 'function', name: 'f', parameters: SCHEMA, strict: false }];
    const reasoning = effort === undefined ? {} : { reasoning: { effort } };
    return { model, stream, input: history, store: false, tools, ...options, max_output_tokens: limit, ...reasoning };
  }
  const tools = [{ name: 'f', input_schema: SCHEMA }];
  const thinking =
    effort === undefined
      ? {}
      : effort === 'none'
        ? { thinking: { type: 'disabled' } }
        : { thinking: { type: 'adaptive' }, output_config: { effort } };
  return { model, stream, messages: history, tools, ...options, max_tokens: limit, ...thinking };
}

/** The format of a model's upstream. A pool has several. */
function formatOf(model: string): Client | undefined {
  if (model === 'team/any') return undefined;
  return STRICT_VENDORS[model.split('/')[0] ?? '']?.format;
}

function optionsOf(client: Client, fields: number): JsonObject {
  const metadata = client === 'messages' ? { metadata: { user_id: 'u' } } : { metadata: { a: 'b' }, user: 'u' };
  const first = fields & 1 ? metadata : {};
  const second = fields & 2 ? { temperature: 0.5, ...(client === 'chat' ? { stop: ['q1', 'q2'], seed: 1 } : {}) } : {};
  const third = fields & 4 && client !== 'messages' ? { service_tier: 'flex', prompt_cache_key: 'k' } : {};
  return { ...first, ...second, ...third };
}

/** What a vendor's own tools leave in the history of its clients. */
function vendorHistory(client: Client): unknown[] {
  if (client === 'responses') {
    return [
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Found.', annotations: [] }] },
    ];
  }
  if (client === 'chat') return [{ role: 'assistant', content: 'Found.' }];
  const found = [{ type: 'web_search_result', title: 'T', url: 'https://x.test', encrypted_content: 'e' }];
  return [
    {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: found },
        { type: 'text', text: 'Found.' },
      ],
    },
  ];
}

/** Runs walks. A failing walk is printed in its smallest form. @param seed of the random numbers. */
export async function runWalks(walks: VendorWalks, runs: number, seed: number): Promise<void> {
  const property = fc.asyncProperty(WALKS, (walk) => walks.walk(walk));
  const result = await fc.check(property, { numRuns: runs, seed });
  if (!result.failed) return;
  const { counterexample, errorInstance } = result;
  const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  assert.fail(`Seed ${seed}. ${reason.slice(0, 2_000)}\n${JSON.stringify(counterexample?.[0])}`);
}
