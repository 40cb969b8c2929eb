import { type Attachment, attachedPath } from '../../chat/attachment.ts';
import type { AnswerOptions } from '../../chat/message-parts.ts';
import { expandCommand, type SlashCommand } from '../../chat/page/slash-commands.ts';
import type { Outgoing } from '../../chat/session/session.ts';
import type { FromPageOf } from '../../protocol/chat/from-page.ts';
import type { FilledPrompt } from './context/prompt-files.ts';

/** The parts that complete a message of the user. */
export interface MessageSources {
  readonly attachments: {
    /** The default attachments of a slash command. */
    forCommand(command: SlashCommand): Promise<readonly Attachment[]>;
  };
  readonly mentions: {
    /** Looks up the names after `@` in a message, except those that are answered already. */
    mentioned(
      text: string,
      mention: FromPageOf<'send'>['mention'],
      answered: ReadonlySet<string>,
    ): Promise<{ readonly text: string; readonly attachments: readonly Attachment[] }>;
  };
  readonly context: {
    /** The open file, unless it is switched off. */
    attachments(): Promise<readonly Attachment[]>;
  };
  /** The filled prompt file for `/name`. Undefined: the user cancelled an input, or was told that there is none. */
  readonly fillPrompt: (name: string) => Promise<FilledPrompt | undefined>;
}

/**
 * A new message: the names after `@` are attached, slash commands and prompt files are expanded, and the open file is
 * added.
 *
 * @param answered names that the user has decided about: they are not attached again.
 * @returns undefined if the user cancelled an input of a prompt file, or there is no such command.
 */
export async function newMessage(
  sources: MessageSources,
  { text, mention, plan }: FromPageOf<'send'>,
  attachments: readonly Attachment[],
  answered: ReadonlySet<string>,
): Promise<Outgoing | undefined> {
  const known = new Set([...answered, ...attachments.flatMap(attachmentNames)]);
  const named = await sources.mentions.mentioned(text, mention, known);
  const all = [...attachments, ...named.attachments];
  const outgoing = await expandMessage(sources, named.text.trimEnd(), all, plan ? { plan: true } : undefined);
  return outgoing && withContext(sources, outgoing);
}

/**
 * A message with its slash command or prompt file expanded. A blank before the slash makes it a text.
 *
 * @returns undefined if the user cancelled an input, or there is no such command.
 */
export async function expandMessage(
  sources: MessageSources,
  text: string,
  attachments: readonly Attachment[],
  options?: AnswerOptions,
): Promise<Outgoing | undefined> {
  const own = options === undefined ? {} : { options };
  const { command, text: expanded } = expandCommand(text);
  if (command) {
    const sent = attachments.length > 0 ? attachments : await sources.attachments.forCommand(command);
    return { text, prompt: expanded, attachments: sent, ...own };
  }
  const name = /^\/([\w.-]+)(?:\s|$)/.exec(text)?.[1];
  if (name === undefined) return { text: text.trim(), attachments, ...own };
  const filled = await sources.fillPrompt(name);
  if (filled === undefined) return undefined;
  const rest = text.slice(name.length + 1).trim();
  const prompt = [filled.prompt, rest].filter(Boolean).join('\n\n');
  return { text, prompt, attachments, options: { ...filled.options, ...options } };
}

/** Adds the open file, unless it is attached already. */
export async function withContext(sources: MessageSources, outgoing: Outgoing): Promise<Outgoing> {
  const { attachments = [] } = outgoing;
  const attached = new Set(attachments.map(attachedPath));
  const context = (await sources.context.attachments()).filter((each) => !attached.has(attachedPath(each)));
  return { ...outgoing, attachments: [...attachments, ...context] };
}

/** The names by which a message may mention an attachment. */
function attachmentNames({ kind, label, detail }: Attachment): readonly string[] {
  return [kind, label, ...(detail === undefined ? [] : [detail])];
}
