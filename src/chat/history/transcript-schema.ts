import * as z from 'zod';
import { ERROR_TYPES } from '../../wire/errors/svc-error.ts';
import type { Attachment } from '../attachment.ts';
import { type AnswerOptions, CAUTION_KINDS, type ErrorCard, TASK_STATES, type ToolAction } from '../message-parts.ts';
import type { Ending, Message, Part, Patch, PendingRetry, Transcript } from '../transcript.ts';

/** Validates history and imported files, which may be incomplete, old, or from another source. */

const count = z.number();
const usage = z.object({
  input: count,
  output: count,
  cacheRead: count.exactOptional(),
  cacheWrite: count.exactOptional(),
  cacheWrite1h: count.exactOptional(),
  reasoning: count.exactOptional(),
});

const seal = z.union([
  z.object({ vendor: z.literal('messages'), signature: z.string() }),
  z.object({ vendor: z.literal('messages'), redacted: z.string() }),
  z.object({ vendor: z.literal('responses'), id: z.string(), encrypted: z.string().exactOptional() }),
  z.object({ vendor: z.literal('chat-completions'), details: z.array(z.unknown()) }),
]);

const caution = z.object({ kind: z.enum(CAUTION_KINDS), path: z.string() });

const fileChange = z.object({
  kind: z.enum(['create', 'edit', 'rename', 'delete']),
  path: z.string(),
  newPath: z.string().exactOptional(),
  added: count,
  removed: count,
  hunks: z.array(z.object({ oldStart: count, newStart: count, lines: z.array(z.string()) })),
  hidden: count.exactOptional(),
  formatted: count.exactOptional(),
});

const toolState = z.union([
  z.object({ type: z.enum(['receiving', 'allowed', 'running']) }),
  z.object({ type: z.literal('stopped'), unstarted: z.literal(true).exactOptional() }),
  z.object({
    type: z.literal('waiting'),
    caution: caution.exactOptional(),
    rules: z.array(z.string()).exactOptional(),
    redefined: z.object({ change: fileChange.exactOptional() }).exactOptional(),
  }),
  z.object({
    type: z.literal('done'),
    output: z.string(),
    failed: z.literal(true).exactOptional(),
    exitCode: count.exactOptional(),
    ms: count.exactOptional(),
  }),
  z.object({ type: z.literal('denied'), reason: z.string(), rule: z.string().exactOptional() }),
]);

const toolAction = z.union([
  z.object({ type: z.literal('changes'), changes: z.array(fileChange) }),
  z.object({ type: z.literal('command'), command: z.string(), cwd: z.string(), explanation: z.string() }),
  z.object({ type: z.literal('fetch'), url: z.string(), origin: z.string() }),
  z.object({ type: z.literal('question'), question: z.string(), choices: z.array(z.string()) }),
  z.object({ type: z.literal('tasks'), tasks: z.array(z.object({ title: z.string(), state: z.enum(TASK_STATES) })) }),
]) satisfies z.ZodType<ToolAction>;

const part = z.union([
  z.object({ type: z.enum(['text', 'refusal']), text: z.string() }),
  z.object({
    type: z.literal('reasoning'),
    text: z.string(),
    ms: count.exactOptional(),
    seals: z.array(seal).exactOptional(),
  }),
  z.object({
    type: z.literal('tool'),
    id: z.string(),
    name: z.string(),
    origin: z.string(),
    changes: z.boolean(),
    text: z.string(),
    action: toolAction.exactOptional(),
    state: toolState,
  }),
  z.object({ type: z.literal('step') }),
]) satisfies z.ZodType<Part>;

const messageText = z.object({ template: z.string(), values: z.array(z.string()) });

const card = z.object({
  errorType: z.enum(ERROR_TYPES),
  status: count,
  title: z.string(),
  message: z.string(),
  text: messageText.exactOptional(),
  advice: z.string().exactOptional(),
  adviceText: messageText.exactOptional(),
  action: z.enum([
    'set-key',
    'choose-model',
    'add-provider',
    'open-settings',
    'review-origin',
    'retry',
    'compact',
    'show-log',
    'edit',
  ]),
  retryAt: count.exactOptional(),
  provider: z.string().exactOptional(),
  providerName: z.string().exactOptional(),
}) satisfies z.ZodType<ErrorCard>;

const ending = z.union([
  z.object({
    type: z.literal('finished'),
    reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'other', 'closed']),
    outcome: z.enum(['complete', 'incomplete', 'reasoning-only', 'empty', 'filtered', 'interrupted']),
  }),
  z.object({ type: z.literal('stopped') }),
  z.object({ type: z.literal('repeating'), tool: z.string() }),
  z.object({ type: z.literal('paused'), steps: count }),
  z.object({ type: z.literal('failed'), error: card }),
]) satisfies z.ZodType<Ending>;

const retry = z.object({ errorType: z.enum(ERROR_TYPES), at: count }) satisfies z.ZodType<PendingRetry>;

const attachment = z.object({
  id: z.string(),
  kind: z.enum([
    'selection',
    'file',
    'folder',
    'symbol',
    'problems',
    'terminal',
    'diff',
    'image',
    'pdf',
    'prompt',
    'editor',
  ]),
  label: z.string(),
  detail: z.string().exactOptional(),
  tokens: count,
  text: z.string().exactOptional(),
  language: z.string().exactOptional(),
  media: z.object({ mediaType: z.string(), base64: z.string() }).exactOptional(),
  preview: z
    .string()
    .regex(/^data:image\//)
    .exactOptional(),
}) satisfies z.ZodType<Attachment>;

export const attachmentsSchema = z.array(attachment);

export const optionsSchema = z.object({
  model: z.string().exactOptional(),
  tools: z.array(z.string()).exactOptional(),
  readOnly: z.literal(true).exactOptional(),
  plan: z.literal(true).exactOptional(),
}) satisfies z.ZodType<AnswerOptions>;

const message = z.object({
  id: z.string(),
  parent: z.string().exactOptional(),
  role: z.enum(['user', 'assistant', 'summary']),
  parts: z.array(part),
  attachments: attachmentsSchema.exactOptional(),
  prompt: z.string().exactOptional(),
  options: optionsSchema.exactOptional(),
  auto: z.literal(true).exactOptional(),
  keeps: z.string().exactOptional(),
  createdAt: count,
  model: z
    .object({
      ref: z.string(),
      name: z.string(),
      provider: z.string(),
      simulated: z.boolean(),
      variant: z.string().exactOptional(),
    })
    .exactOptional(),
  usage: usage.exactOptional(),
  context: count.exactOptional(),
  price: count.exactOptional(),
  omitted: z.array(z.string()).exactOptional(),
  retry: retry.exactOptional(),
  ending: ending.exactOptional(),
}) satisfies z.ZodType<Message>;

const of = { message: z.string() };
const ofPart = { ...of, part: z.number().int().min(0).max(10_000) };

export const patchSchema = z.union([
  z.object({ type: z.literal('append'), ...ofPart, kind: z.enum(['text', 'refusal', 'reasoning']), text: z.string() }),
  z.object({ type: z.literal('add'), message }),
  z.object({ type: z.literal('part'), ...ofPart, value: part }),
  z.object({ type: z.literal('arguments'), ...ofPart, text: z.string() }),
  z.object({ type: z.literal('tool'), ...ofPart, state: toolState }),
  z.object({ type: z.literal('action'), ...ofPart, action: toolAction }),
  z.object({ type: z.literal('reasoned'), ...ofPart, ms: count }),
  z.object({ type: z.literal('seal'), ...ofPart, seal }),
  z.object({ type: z.literal('usage'), ...of, usage, context: count, price: count.exactOptional() }),
  z.object({ type: z.literal('omitted'), ...of, labels: z.array(z.string()) }),
  z.object({ type: z.literal('retry'), ...of, retry }),
  z.object({ type: z.literal('end'), ...of, ending }),
  z.object({ type: z.literal('select'), leaf: z.string() }),
  z.object({ type: z.literal('title'), title: z.string() }),
  z.object({ type: z.literal('pin'), pinned: z.boolean() }),
]) satisfies z.ZodType<Patch>;

export const transcriptSchema = z.object({
  messages: z.array(message),
  leaf: z.string().exactOptional(),
  title: z.string(),
  pinned: z.boolean(),
}) satisfies z.ZodType<Transcript>;
