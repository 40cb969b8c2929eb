import * as z from 'zod';
import { MAX_MEDIA_BYTES } from '../../chat/attachment.ts';

/** Far more than a user types or pastes: longer texts are not shown or sent. */
const MAX_TEXT = 100_000_000;
const text = z.string().max(MAX_TEXT);
/** Ids of calls are those of providers, and some are long, because they contain a signature. */
const id = text.min(1);

/** Actions of cards and the composer without parameters. */
const plain = z.object({
  type: z.enum([
    'resync',
    'focused',
    'left',
    'stop',
    'continue',
    'compact',
    'compact-retry',
    'new-conversation',
    'show-history',
    'pick-model',
    'choose-tools',
    'add-provider',
    'add-local',
    'add-gateway',
    'import-providers',
    'open-settings',
    'review-origin',
    'show-log',
    'attach',
    'carry-out-plan',
    'load-diagram-script',
  ]),
});

/** Messages from the page to the host. The page renders model output, so its messages are not trusted. */
const fromPage = z.union([
  plain,
  z.object({ type: z.literal('ready'), session: id.optional() }),
  z.object({
    type: z.literal('send'),
    text,
    /** A mention whose list had not arrived: the host looks it up. `from` is the index of its `@`. */
    mention: z.object({ from: z.number().int().min(0), text }).exactOptional(),
    plan: z.literal(true).exactOptional(),
  }),
  z.object({ type: z.literal('set-key'), provider: id.optional() }),
  z.object({ type: z.literal('edit'), message: id, text }),
  z.object({ type: z.literal('regenerate'), message: id.optional() }),
  z.object({ type: z.literal('select'), message: id }),
  z.object({
    type: z.literal('decide'),
    call: id,
    decision: z.union([
      z.object({ type: z.enum(['once', 'session', 'always']), command: text.exactOptional() }),
      z.object({ type: z.literal('answer'), text }),
      z.object({ type: z.literal('deny'), reason: text }),
    ]),
  }),
  z.object({ type: z.literal('preview'), call: id }),
  z.object({
    type: z.literal('turn'),
    action: z.enum(['review', 'keep', 'undo', 'redo']),
    message: id,
    call: id.exactOptional(),
    /** For `review`: one file, relative to the workspace folder. */
    path: text.exactOptional(),
  }),
  z.object({ type: z.literal('restore'), message: id }),
  z.object({ type: z.enum(['queue-remove', 'queue-edit', 'queue-send']), message: id }),
  z.object({ type: z.literal('toggle-context'), chip: text }),
  z.object({ type: z.literal('draft'), text }),
  z.object({ type: z.literal('detach'), attachment: id }),
  z.object({
    type: z.literal('attach-media'),
    name: text,
    mediaType: text,
    base64: z.string().max(Math.ceil((MAX_MEDIA_BYTES * 4) / 3) + 4),
    preview: z
      .string()
      .max(200_000)
      .regex(/^data:image\//)
      .optional(),
  }),
  z.object({ type: z.literal('attach-refused'), name: text, why: z.enum(['too-large', 'kind']) }),
  z.object({ type: z.literal('attach-uris'), uris: z.array(text).max(1000) }),
  /** `name`: as it is in the text, without `@`. */
  z.object({ type: z.literal('attach-item'), item: text, name: text }),
  z.object({ type: z.literal('complete'), query: z.number(), trigger: z.enum(['@', '/']), text }),
  z.object({
    type: z.literal('code'),
    action: z.enum(['insert', 'diff', 'new-file', 'terminal']),
    text,
    language: text,
    /** The path in the info string of the block. */
    file: text.exactOptional(),
  }),
  z.object({ type: z.literal('copy'), text }),
  /** Which of these are files of the workspace? */
  z.object({ type: z.literal('check-paths'), paths: z.array(text) }),
  /** Opens a file of the workspace, at the line in the text: see `readPathLink`. */
  z.object({ type: z.literal('open-path'), path: text }),
  z.object({ type: z.literal('open-link'), href: text, shown: text }),
]);

/** One member for each type, so that `FromPageOf` finds it. */
type Each<Message extends { readonly type: string }> = Message extends unknown
  ? { [Type in Message['type']]: Message & { readonly type: Type } }[Message['type']]
  : never;

export type FromPage = Each<z.infer<typeof fromPage>>;

/** The messages of some types. */
export type FromPageOf<Type extends FromPage['type']> = Extract<FromPage, { readonly type: Type }>;

/** Parses a message from the page; undefined if it is not valid. */
export function parseFromPage(value: unknown): FromPage | undefined {
  const parsed = fromPage.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
