/**
 * The one description of svc.jsonc: validate.ts checks with it, scripts/config-schema.ts writes
 * schemas/svc.schema.json from it and scripts/configuration-tables.ts the tables of docs/configuration.md.
 */
import * as z from 'zod';
import { FIM_DIALECTS } from '../../wire/fim/fim-request.ts';
import { MODALITIES } from '../settings/configured-model.ts';

const anything = z.record(z.string(), z.unknown());
const modelRef = z
  .string()
  .regex(/^[^/]+\/.+$/)
  .meta({ expected: 'a model as <provider_id>/<model_id>' });
const tokens = z.number().min(0).meta({ expected: 'a number of tokens, 0 or more' });
const price = z.number().min(0).meta({ expected: 'a price in USD per million tokens, 0 or more' });
const url = z
  .string()
  .regex(/^https?:\/\/[^\s/?#@\\]+([/?#].*)?$|\{(env|file):/)
  .meta({ expected: 'an address that starts with http:// or https:// and holds no user name or password' });
/** RFC 9110 token; no control characters in a value (RFC 9110 section 5.5). */
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
    input: z.array(z.enum(MODALITIES)).describe('What the model reads.'),
    output: z.array(z.enum(MODALITIES)).describe('What the model writes.'),
  })
  .describe('Kinds of content. Both lists are needed.');

const limit = z
  .strictObject({
    context: tokens.optional().describe('Whole context window, in tokens. Decides when history is compacted.'),
    output: tokens.optional().describe('Most tokens of one answer; sent as `max_tokens` or the like.'),
    input: tokens.optional().describe('Stricter ceiling of the input; compaction goes by it instead of `context`.'),
  })
  .describe('Limits in tokens; each is optional and goes over the catalog by itself.');

const cost = z
  .strictObject({
    input: price.optional().describe('Input.'),
    output: price.optional().describe('Output.'),
    cache_read: price.optional().describe('Input that was read from the cache.'),
    cache_write: price.optional().describe('Input that was written to the cache.'),
  })
  .describe('USD per million tokens.');

const variants = z
  .record(z.string(), z.looseObject({ disabled: z.boolean().optional() }).nullable())
  .describe(
    'Named variants: their fields are merged into the request when chosen. `null` or `"disabled": true` switches one off.',
  );

const modelSchema = z.strictObject({
  name: z.string().min(1).optional().describe('Name in the model picker.'),
  id: z.string().min(1).optional().describe('What the provider is told; by default the key. For Azure the deployment.'),
  tool_call: z.boolean().optional().describe('Can call tools.'),
  reasoning: z.boolean().optional().describe('Can think before it answers.'),
  temperature: z.boolean().optional().describe('Takes `temperature`.'),
  attachment: z.boolean().optional().describe('Takes files as attachments.'),
  modalities: modalities.optional(),
  limit: limit.optional(),
  cost: cost.optional(),
  options: anything.optional().describe('Fields that are merged into every request to this model.'),
  headers: headers.optional().describe("Extra HTTP headers, over the provider's."),
  provider: z
    .strictObject({
      npm: z.string().min(1).optional().describe('Client package, for this model alone.'),
      api: url.optional().describe('Base address, for this model alone.'),
    })
    .optional()
    .describe("Overrides the provider's package or address."),
  variants: variants.optional(),
});

const optionsSchema = z.looseObject({
  apiKey: z
    .string()
    .optional()
    .describe('Key of the provider. Better than in the file: `{env:NAME}`, `{file:path}` or `svc` key storage.')
    .meta({ examples: ['{env:MISTRAL_API_KEY}', '{file:~/.keys/mistral}'] }),
  baseURL: url
    .optional()
    .describe('Base address; `/chat/completions`, `/responses` or `/messages` is put after it as it is.')
    .meta({ examples: ['https://api.example.com/v1'] }),
  fimURL: url
    .optional()
    .describe('Base address for code completion; `/completions` is put after it.')
    .meta({ examples: ['https://codestral.mistral.ai/v1/fim'] }),
  resourceName: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9-]*$|\{(env|file):/)
    .meta({ expected: 'the name of an Azure resource: letters, digits, hyphens' })
    .optional()
    .describe('Azure: the resource. Ignored when `baseURL` is set.'),
  apiVersion: z.string().min(1).optional().describe('Azure: the API version.'),
  timeout: z
    .union([z.number().gt(0), z.literal(false)])
    .meta({ expected: 'a number of milliseconds above 0, or false' })
    .optional()
    .default(300_000)
    .describe('Milliseconds until the first byte of an answer; `false` is no limit.'),
  chunkTimeout: z
    .int()
    .gt(0)
    .meta({ expected: 'a whole number of milliseconds above 0' })
    .optional()
    .describe(
      'Milliseconds between two parts of a streamed answer; without it there is no limit. 15000 to 30000 suits unreliable streams.',
    ),
  headers: headers.optional().describe('Extra HTTP headers. `null` takes one away.'),
  simulated: z.boolean().optional().describe('The answers are made up by a program, and shown as such.'),
});

const idList = z.array(z.string());

const providerSchema = z.strictObject({
  name: z.string().min(1).optional().describe('Name that a person reads.'),
  npm: z
    .string()
    .min(1)
    .optional()
    .default('@ai-sdk/openai-compatible')
    .describe(
      'Which format the provider speaks: `@ai-sdk/openai-compatible` (Chat Completions), `@ai-sdk/openai` (Responses), `@ai-sdk/anthropic` (Messages), `@ai-sdk/azure`, `@ai-sdk/mistral`. Nothing is installed.',
    )
    .meta({ examples: ['@ai-sdk/openai-compatible', '@ai-sdk/openai', '@ai-sdk/anthropic'] }),
  api: url.optional().describe('Base address; `options.baseURL` goes before it.'),
  env: idList.optional().describe('Environment variables that hold the key, first set one counts. Trusted files only.'),
  fim: z
    .enum(FIM_DIALECTS)
    .optional()
    .describe('How code completions are asked for; found by itself for known providers.'),
  options: optionsSchema.optional().describe('Address, key and timeouts, for all models of the provider.'),
  models: z
    .record(z.string(), modelSchema.nullable())
    .optional()
    .describe('Models by key; merged over the catalog. `null` switches one off.'),
  whitelist: idList.optional().describe('Only these model keys are there; `*` stands for any text.'),
  blacklist: idList.optional().describe('These model keys are hidden; goes before `whitelist`.'),
});

const organizationSchema = z.strictObject({
  name: z.string().min(1).optional().describe('Name that a person reads.'),
  policy: z
    .strictObject({
      allow: idList.optional().describe('Models that may be used: exact ids or `vendor/*`. Without it: all.'),
      deny: idList.optional().describe('Models that may not; goes before `allow`.'),
    })
    .optional()
    .describe('Which models the organization may use.'),
  byok: z.record(z.string(), z.string()).optional().describe("The organization's own keys, by provider id."),
});

const gatewaySchema = z.strictObject({
  listen: z
    .strictObject({
      host: z.string().min(1).optional().default('127.0.0.1').describe('Address to listen on.'),
      port: z.int().min(0).max(65_535).optional().default(4180).describe('Port; 0 takes a free one.'),
    })
    .optional()
    .describe('Where the gateway listens.'),
  maxBodyBytes: z.int().gt(0).optional().default(25_165_824).describe('Largest request body, in bytes.'),
  maxBufferedBytes: z
    .int()
    .gt(0)
    .optional()
    .default(268_435_456)
    .describe('Most bytes of request and answer bodies that are held in memory at once; further requests get 503.'),
  allowedOrigins: idList.optional().describe('Web origins whose pages may send requests.'),
  allowedHosts: idList.optional().describe('Further `Host` names that are accepted.'),
  organizations: z.record(z.string(), organizationSchema).optional().describe('Organizations by id.'),
  embeddingModels: z
    .record(
      z.string(),
      z.strictObject({
        name: z.string().optional().describe('Name that a person reads.'),
        dimensions: z.int().gt(0).optional().describe('Length of a vector.'),
        context: z.int().gt(0).optional().describe('Most input tokens.'),
      }),
    )
    .optional()
    .describe('Embedding models by `<provider_id>/<model_id>`.'),
  transcriptionModels: z
    .record(z.string(), z.strictObject({ name: z.string().optional().describe('Name that a person reads.') }))
    .optional()
    .describe('Transcription models by `<provider_id>/<model_id>`.'),
  fallback: z
    .record(z.string(), z.array(modelRef))
    .optional()
    .describe('Models that are tried in turn when one fails before its first byte.'),
});

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
    provider: z
      .record(z.string(), providerSchema.nullable())
      .optional()
      .describe('Providers by id. `null` switches one off.'),
    catalog: z
      .strictObject({
        refresh: z.boolean().optional().default(true).describe('Fetch the public model catalog in the background.'),
      })
      .optional()
      .describe('The model catalog.'),
    gateway: gatewaySchema.optional().describe('The gateway (`svc serve`). Trusted files only.'),
  })
  .meta({ title: 'Svc configuration', description: 'svc.json and svc.jsonc.' });

/** JSON Schema (draft 7) of a configuration file. */
export function jsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(configSchema, { target: 'draft-7', io: 'input' });
}
