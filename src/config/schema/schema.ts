/**
 * The only definition of svc.jsonc. validate.ts checks files with it. scripts/config-schema.ts generates
 * schemas/svc.schema.json and scripts/configuration-tables.ts generates the tables of docs/configuration.md.
 */
import * as z from 'zod';
import { isTimeZone } from '../../base/time-zone.ts';
import { EDIT_DIALECTS } from '../../wire/edit/edit-request.ts';
import { FIM_DIALECTS } from '../../wire/fim/fim-request.ts';
import { MODALITIES } from '../settings/configured-model.ts';
import { DEFAULT_LISTEN, DEFAULT_NPM, DEFAULT_TIMEOUT_MS } from '../settings/defaults.ts';
import { LIMIT_DEFAULTS } from '../settings/limit-values.ts';
import { budget, limitedModel, rate, sharedBy } from './limits.ts';

const anything = z.record(z.string(), z.unknown());
/**
 * Ids of providers and models are printed one per line. A control character, a line separator or a change of direction
 * would let a project forge a line.
 */
export function isId(text: string): boolean {
  return !/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.test(text);
}

const id = z.string().refine(isId);
const modelRef = id.regex(/^[^/]+\/.+$/).meta({ expected: 'a model as <provider_id>/<model_id>' });
const tokens = z.number().min(0).meta({ expected: 'a number of tokens, 0 or more' });
const price = z.number().min(0).meta({ expected: 'a price in USD per million tokens, 0 or more' });
const url = z
  .string()
  .regex(/^https?:\/\/[^\s/?#@\\]+([/?#].*)?$|\{(env|file):/)
  .meta({ expected: 'an address that starts with http:// or https:// and contains no user name or password' });
/** Names are RFC 9110 tokens. Values contain no control characters (RFC 9110 section 5.5). */
const headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
    z
      .string()
      .regex(/^[^\u0000-\u0008\u000a-\u001f\u007f]*$/)
      .meta({ expected: 'a header value without line breaks' })
      .nullable(),
  )
  .meta({ expected: 'HTTP headers: names and string values' });

const modalities = z
  .strictObject({
    input: z.array(z.enum(MODALITIES)).describe('Kinds of content that the model accepts.'),
    output: z.array(z.enum(MODALITIES)).describe('Kinds of content that the model produces.'),
  })
  .describe('Kinds of content. Both lists are required.');

const limit = z
  .strictObject({
    context: tokens.optional().describe('Context window in tokens. Determines when the history is compacted.'),
    output: tokens.optional().describe('Maximum output tokens of one answer; sent as `max_tokens` or its equivalent.'),
    input: tokens.optional().describe('Stricter limit of the input tokens; compaction uses it instead of `context`.'),
  })
  .describe('Limits in tokens; each is optional and overrides the catalog separately.');

const rates = {
  input: price.optional().describe('Input.'),
  output: price.optional().describe('Output.'),
  cache_read: price.optional().describe('Input read from the cache.'),
  cache_write: price.optional().describe('Input written to the cache.'),
  cache_write_1h: price
    .optional()
    .describe('Input written to the cache for an hour. Default: twice the price of `input`.'),
  input_audio: price.optional().describe('Audio in the input. Default: the price of `input`.'),
  output_audio: price.optional().describe('Audio in the output. Default: the price of `output`.'),
  output_image: price.optional().describe('Images in the output. Default: the price of `output`.'),
  reasoning: price.optional().describe('Reasoning. Default: the price of `output`.'),
};

const priceTier = z.strictObject({
  ...rates,
  above: z.int().gt(0).describe('Tokens of input, with cached ones, above which these prices apply.'),
  input: price.describe('Input.'),
  output: price.describe('Output.'),
});

const servedPrices = z.strictObject({
  ...rates,
  factor: z.number().min(0).optional().describe('Factor of all prices.'),
});

const cost = z
  .strictObject({
    ...rates,
    tiers: z.array(priceTier).optional().describe('Prices of the whole request above a number of input tokens.'),
    context_over_200k: z
      .record(z.string(), price)
      .optional()
      .describe('Prices above 200,000 tokens of input, as in models.dev.'),
    served: z
      .record(z.string(), servedPrices)
      .optional()
      .describe(
        'Prices by what the answer says was served: a service tier (`flex`, `priority`), a speed (`fast`) or a region (`us`).',
      )
      .meta({ examples: [{ priority: { factor: 2 } }] }),
    fees: z
      .record(z.string(), z.number().min(0))
      .optional()
      .describe('USD per call of a tool that the vendor runs, such as `web_search`.')
      .meta({ examples: [{ web_search: 0.01 }] }),
  })
  .describe('USD per million tokens.');

const variants = z
  .record(z.string(), z.looseObject({ disabled: z.boolean().optional() }).nullable())
  .describe(
    'Named variants: their fields are merged into the request when chosen. `null` or `"disabled": true` disables one.',
  );

const modelSchema = z.strictObject({
  name: z.string().min(1).optional().describe('Name in the model picker.'),
  id: z
    .string()
    .min(1)
    .optional()
    .describe('Model id in requests to the provider (default: the key). For Azure, the deployment.'),
  tool_call: z.boolean().optional().describe('Can call tools.'),
  reasoning: z.boolean().optional().describe('Can think before it answers.'),
  temperature: z.boolean().optional().describe('Supports `temperature`.'),
  attachment: z.boolean().optional().describe('Accepts files as attachments.'),
  edit: z.enum(EDIT_DIALECTS).optional().describe('Format for next edits; detected automatically for known models.'),
  modalities: modalities.optional(),
  limit: limit.optional(),
  cost: cost.optional(),
  options: anything.optional().describe('Fields that are merged into every request to this model.'),
  headers: headers.optional().describe("Additional HTTP headers; they override the provider's."),
  provider: z
    .strictObject({
      npm: z.string().min(1).optional().describe('Client package for this model only.'),
      api: url.optional().describe('Base address for this model only.'),
    })
    .optional()
    .describe("Overrides the provider's package or address."),
  variants: variants.optional(),
});

export const optionsSchema = z.looseObject({
  apiKey: z
    .string()
    .optional()
    .describe('API key. Use `{env:NAME}`, `{file:path}` or the key store of the editor instead of a key in the file.')
    .meta({ examples: ['{env:MISTRAL_API_KEY}', '{file:~/.keys/mistral}'] }),
  baseURL: url
    .optional()
    .describe('Base address; `/chat/completions`, `/responses` or `/messages` is appended.')
    .meta({ examples: ['https://api.example.com/v1'] }),
  fimURL: url
    .optional()
    .describe('Base address for code completion; `/completions` is appended.')
    .meta({ examples: ['https://codestral.mistral.ai/v1/fim'] }),
  resourceName: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9-]*$|\{(env|file):/)
    .meta({ expected: 'the name of an Azure resource: letters, digits, hyphens' })
    .optional()
    .describe('Azure: the resource. Ignored if `baseURL` is set.'),
  apiVersion: z.string().min(1).optional().describe('Azure: the API version.'),
  timeout: z
    .union([z.number().gt(0), z.literal(false)])
    .meta({ expected: 'a number of milliseconds above 0, or false' })
    .optional()
    .default(DEFAULT_TIMEOUT_MS)
    .describe('Milliseconds until the first byte of an answer; `false` means no limit.'),
  chunkTimeout: z
    .int()
    .gt(0)
    .meta({ expected: 'a whole number of milliseconds above 0' })
    .optional()
    .describe(
      'Milliseconds between two parts of a streamed answer (default: no limit). Use 15000 to 30000 for unreliable streams.',
    ),
  headers: headers.optional().describe('Additional HTTP headers. `null` removes one.'),
  reasoningTags: z
    .boolean()
    .optional()
    .describe(
      '`true`: reasoning in `<think>`, `[THINK]` or gpt-oss channels at the start of an answer is split from its text; `false`: never (default: depends on the server and the model).',
    ),
  toolCallsInText: z
    .boolean()
    .optional()
    .describe(
      '`true`: tool calls that a model writes into the text of its answer become calls; `false`: never (default: depends on the server and the model).',
    ),
  simulated: z
    .boolean()
    .optional()
    .describe('The answers are generated by a program, not by a model. The UI labels them as simulated.'),
});

const idList = z.array(z.string());

const providerSchema = z.strictObject({
  name: z.string().min(1).optional().describe('Display name.'),
  npm: z
    .string()
    .min(1)
    .optional()
    .default(DEFAULT_NPM)
    .describe(
      'Format of the provider: `@ai-sdk/openai-compatible` (Chat Completions), `@ai-sdk/openai` (Responses), `@ai-sdk/anthropic` (Messages), `@ai-sdk/azure`, `@ai-sdk/mistral`. No package is installed.',
    )
    .meta({ examples: ['@ai-sdk/openai-compatible', '@ai-sdk/openai', '@ai-sdk/anthropic'] }),
  api: url.optional().describe('Base address; `options.baseURL` overrides it.'),
  env: idList
    .optional()
    .describe('Environment variables for the key; the first one that is set is used. Trusted files only.'),
  fim: z
    .enum(FIM_DIALECTS)
    .optional()
    .describe('Request format for code completions; detected automatically for known providers.'),
  edit: z
    .enum(EDIT_DIALECTS)
    .optional()
    .describe('Format for next edits of all models of the provider; detected automatically for known models.'),
  options: optionsSchema.optional().describe('Address, key and timeouts for all models of the provider.'),
  models: z
    .record(id, modelSchema.nullable())
    .optional()
    .describe('Models by key; merged over the catalog. `null` disables one.'),
  whitelist: idList.optional().describe('Model keys that are available; all others are hidden. `*` matches any text.'),
  blacklist: idList.optional().describe('Model keys that are hidden; overrides `whitelist`.'),
});

const limitedModelName = limitedModel.meta({ ...limitedModel.meta(), examples: ['openai/*'] });
const model = limitedModelName
  .optional()
  .default(LIMIT_DEFAULTS.model)
  .describe('Models that count: an exact id, `vendor/*`, or `*` for all.');
const each = sharedBy
  .optional()
  .describe(
    '`user` or `key`: each of them has this limit. A key without a user is a user of its own. Otherwise all share it.',
  );

const budgetList = z.array(
  z.strictObject({
    usd: budget.shape.usd.describe('The amount in USD.'),
    period: budget.shape.period
      .optional()
      .default(LIMIT_DEFAULTS.period)
      .describe('The period in which the amount may be spent. Weeks start on Monday.'),
    timeZone: budget.shape.timeZone
      .refine(isTimeZone)
      .optional()
      .default(LIMIT_DEFAULTS.timeZone)
      .describe('The time zone of the period.')
      .meta({ expected: 'a time zone such as Europe/Berlin', examples: ['Europe/Berlin'] }),
    mode: budget.shape.mode
      .optional()
      .default(LIMIT_DEFAULTS.mode)
      .describe('`soft`: running requests may exceed the budget. `hard`: requests reserve their estimated cost.'),
    model,
    each,
  }),
);

const rateList = z.array(
  z.strictObject({
    requests: rate.shape.requests.describe('Maximum requests per minute.'),
    tokens: rate.shape.tokens.describe('Maximum tokens per minute, input and output.'),
    parallel: rate.shape.parallel.describe('Maximum requests at a time.'),
    model,
    each,
  }),
);

const limitFields = {
  budgets: budgetList.optional().describe('Maximum costs.'),
  rates: rateList.optional().describe('Maximum requests and tokens per minute, and requests at a time.'),
};

export const organizationSchema = z.strictObject({
  name: z.string().min(1).optional().describe('Display name.'),
  policy: z
    .strictObject({
      allow: idList.optional().describe('Allowed models: exact ids or `vendor/*` (default: all).'),
      deny: idList.optional().describe('Denied models; overrides `allow`.'),
    })
    .optional()
    .describe('Models that the organization may use.'),
  byok: z.record(z.string(), z.string()).optional().describe("The organization's own keys, by provider id."),
  ...limitFields,
});

export const poolSchema = z
  .strictObject({
    name: z.string().min(1).optional().describe('Display name.'),
    models: z
      .array(modelRef)
      .min(1)
      .meta({ expected: 'a list of one or more models' })
      .describe('Members as `<provider_id>/<model_id>`.'),
    weights: z
      .array(z.number().gt(0))
      .optional()
      .meta({ expected: 'a list with a number above 0 for each model' })
      .describe('Share of the requests of each member, in the order of `models` (default: all equal).'),
    strategy: z
      .enum(['weighted', 'least-busy', 'latency'])
      .optional()
      .default('weighted')
      .describe('How a member is chosen: by weight, by its active requests, or by its time to the first byte.'),
    affinity: z
      .boolean()
      .optional()
      .default(true)
      .describe('Keep the requests of a conversation at one member, so that its prompt cache is used.'),
    hedgeAfter: z
      .int()
      .gt(0)
      .optional()
      .describe(
        'Milliseconds without output after which the request is also sent to a second member (default: never).',
      ),
  })
  .refine(({ models, weights }) => weights === undefined || weights.length === models.length, { path: ['weights'] });

const duration = z
  .string()
  .regex(/^\d{1,6}[smhd]$/)
  .meta({ examples: ['90d', '15m'] });

export const listenSchema = z.strictObject({
  host: z.string().min(1).optional().default(DEFAULT_LISTEN.host).describe('Address to listen on.'),
  port: z.int().min(0).max(65_535).optional().default(DEFAULT_LISTEN.port).describe('Port; 0 selects a free one.'),
});

export const adminSchema = z.strictObject({
  session: duration.optional().default('12h').describe('How long a browser stays signed in.'),
  timeZone: z
    .string()
    .refine(isTimeZone)
    .optional()
    .describe('Time zone that the page starts with (default: that of the machine).')
    .meta({ expected: 'a time zone such as Europe/Berlin' }),
});

export const gatewaySchema = z.strictObject({
  listen: listenSchema.optional().describe('Address and port of the gateway.'),
  maxBodyBytes: z.int().gt(0).optional().default(25_165_824).describe('Maximum size of a request body in bytes.'),
  maxBufferedBytes: z
    .int()
    .gt(0)
    .optional()
    .describe(
      'Maximum size in bytes of all request and response bodies in memory; further requests get status 503. Default: 256 MiB, or a quarter of the memory that Node allows the process if that is less.',
    ),
  publicUrl: url
    .optional()
    .describe('Address of the gateway for browsers, such as that of a balancer. `svc admin link` names it.'),
  connectionAge: duration
    .optional()
    .default('5m')
    .describe(
      'How long a connection to a provider gets requests. The next one looks up the host again, so that a name that moved is followed. `0`: as long as it is open.',
    ),
  allowedOrigins: idList.optional().describe('Web origins whose pages may send requests.'),
  allowedHosts: idList.optional().describe('Additional accepted `Host` names.'),
  organizations: z.record(z.string(), organizationSchema).optional().describe('Organizations by id.'),
  ...limitFields,
  rates: z
    .union([rateList, z.enum(['memory', 'state'])])
    .optional()
    .describe(
      'Maximum requests and tokens per minute, and requests at a time, of all requests together. Or who counts rates: gateways that share a Postgres `state` count together (`state`); with `memory`, each one counts alone. Takes effect when the gateway starts.',
    ),
  unpricedModels: z
    .array(limitedModelName)
    .optional()
    .describe(
      'Models without a price that hard budgets admit: exact ids, `vendor/*`, or `*`. What they cost is not known, so it does not count.',
    ),
  fimModels: z
    .array(limitedModelName)
    .optional()
    .describe('Models that code completion admits besides Codestral and Mercury: exact ids, `vendor/*`, or `*`.'),
  users: z
    .record(z.string(), z.strictObject(limitFields))
    .optional()
    .describe('Limits of users, by the name in `svc keys create --user`.'),
  alerts: z
    .strictObject({
      webhook: z
        .string()
        .optional()
        .describe('Address that receives a POST request when 50, 80 and 100 % of a budget are spent.'),
    })
    .optional()
    .describe('Alerts about budgets. They are also written to the log.'),
  retention: z
    .strictObject({
      usage: duration.optional().describe('How long single requests are kept (default: forever).'),
      rollup: duration
        .optional()
        .describe('How long the sums of each quarter of an hour are kept (default: forever). Totals are always kept.'),
    })
    .optional()
    .describe('How long the usage ledger is kept.'),
  state: z
    .string()
    .min(1)
    .optional()
    .default('sqlite')
    .describe(
      'Where keys and the usage ledger are: `sqlite`, or the address of a Postgres database that several gateways share, such as `postgres://svc:{env:PGPASSWORD}@db/svc`; takes effect when the gateway starts.',
    ),
  statePasswordCommand: z
    .array(z.string())
    .min(1)
    .optional()
    .describe(
      'A program and its arguments, without a shell. The first line that it prints is the password of the Postgres database of `state`, read for new connections: for passwords that expire, such as IAM tokens.',
    )
    .meta({
      examples: [
        ['aws', 'rds', 'generate-db-auth-token', '--hostname', 'db.example.com', '--port', '5432', '--username', 'svc'],
      ],
    }),
  maxStale: duration
    .optional()
    .default('15m')
    .describe('How long keys are used while the Postgres database of `state` is away.'),
  embeddingModels: z
    .record(
      z.string(),
      z.strictObject({
        name: z.string().optional().describe('Display name.'),
        dimensions: z.int().gt(0).optional().describe('Length of a vector.'),
        context: z.int().gt(0).optional().describe('Maximum input tokens.'),
      }),
    )
    .optional()
    .describe('Embedding models by `<provider_id>/<model_id>`.'),
  transcriptionModels: z
    .record(z.string(), z.strictObject({ name: z.string().optional().describe('Display name.') }))
    .optional()
    .describe('Transcription models by `<provider_id>/<model_id>`.'),
  aliases: z
    .record(z.string().min(1).max(200), modelRef)
    .optional()
    .describe(
      'Models or pools by the names that clients send; `*` in a name matches any text. Policies and prices are those of the model.',
    )
    .meta({ examples: [{ 'claude-haiku-*': 'mistral/mistral-small-latest' }] }),
  fallback: z
    .record(z.string(), z.array(modelRef))
    .optional()
    .describe('Models to try in order if a model fails before its first byte.'),
  telemetry: z
    .strictObject({
      endpoint: url.describe('Base address of an OTLP/HTTP receiver, such as `http://127.0.0.1:4318`.'),
      headers: z.record(z.string(), z.string()).optional().describe('Headers for the receiver, such as a key.'),
      serviceName: z.string().min(1).optional().default('svc-gateway').describe('Name of this gateway in traces.'),
      sample: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .default(1)
        .describe('Share of the requests that are traced, at most 200 a second.'),
    })
    .optional()
    .describe('Traces and metrics for OpenTelemetry; takes effect when the gateway starts.'),
  admin: z.union([z.boolean(), adminSchema]).optional().describe('Turns on the admin API and its page under `/admin`.'),
  metricLabels: z
    .array(z.enum(['organization', 'key']))
    .optional()
    .describe('Labels of the metrics of tokens and cost, in addition to the model; at most 200 values each.'),
  pools: z
    .record(modelRef, poolSchema)
    .optional()
    .describe('Models that share the load under one name of the form `<name>/<name>`.'),
});

export const catalogSchema = z.strictObject({
  refresh: z.boolean().optional().default(true).describe('Fetch the public model catalog in the background.'),
});

/** `10.0.0.0/8`, `fd00::/8` or one address. */
const NETWORK = /^[0-9a-fA-F.:]{2,45}(?:\/\d{1,3})?$/;

export const configSchema = z
  .strictObject({
    $schema: z.string().optional().describe('Address of the JSON Schema, for editors.'),
    model: modelRef
      .optional()
      .describe('Model for chat, as `<provider_id>/<model_id>`.')
      .meta({ examples: ['anthropic/claude-sonnet-4-5'] }),
    completionModel: modelRef
      .optional()
      .describe('Model for code completion, as `<provider_id>/<model_id>`.')
      .meta({ examples: ['mistral/codestral-latest'] }),
    nextEditModel: modelRef
      .optional()
      .describe('Model for next edits, as `<provider_id>/<model_id>`.')
      .meta({ examples: ['inception/mercury-edit-2'] }),
    provider: z.record(id, providerSchema.nullable()).optional().describe('Providers by id. `null` disables one.'),
    disabled_providers: idList.optional().describe('Providers by id that are not used, also if a key for them is set.'),
    enabled_providers: idList
      .optional()
      .describe('Providers by id that may be used; all others are not. `disabled_providers` overrides it.'),
    catalog: catalogSchema.optional().describe('The model catalog.'),
    localOnly: z
      .union([
        z.boolean(),
        z.strictObject({
          networks: z.array(z.string().regex(NETWORK)).describe('Networks and addresses, such as `10.0.0.0/8`.'),
        }),
      ])
      .meta({ expected: 'true, false or { "networks": ["10.0.0.0/8"] }' })
      .optional()
      .describe(
        '`true`: requests go only to this machine; with `networks`, also to these networks. For editor, terminal and gateway. Trusted files only.',
      ),
    gateway: gatewaySchema.optional().describe('The gateway (`svc serve`). Trusted files only.'),
  })
  .meta({ title: 'Svc configuration', description: 'svc.json and svc.jsonc.' });

/** The top-level keys. Others have no effect. */
export const SECTIONS: ReadonlySet<string> = new Set(Object.keys(configSchema.shape));

/** JSON Schema (draft 7) of a configuration file. */
export function jsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(configSchema, { target: 'draft-7', io: 'input' });
}
