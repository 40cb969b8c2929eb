import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { attachmentChip } from '../attachment.ts';
import { branchTo, type Message, type Part, type Transcript } from '../transcript.ts';
import { transcriptSchema } from './transcript-schema.ts';

const fileSchema = z.object({ svcConversation: z.literal(1), transcript: transcriptSchema });

/** The whole conversation with its branches, in the format that `importJson` reads. */
export function exportJson(transcript: Transcript): string {
  return `${JSON.stringify({ svcConversation: 1, transcript }, null, 2)}\n`;
}

/** Reads the output of `exportJson`; undefined if it is not valid. */
export function importJson(text: string): Transcript | undefined {
  const parsed = fileSchema.safeParse(parseJson(text));
  return parsed.success ? parsed.data.transcript : undefined;
}

/** The visible branch as readable Markdown. */
export function exportMarkdown(transcript: Transcript): string {
  const body = branchTo(transcript).map(messageMarkdown).filter(Boolean);
  return `${[`# ${transcript.title}`, ...body].join('\n\n')}\n`;
}

function messageMarkdown(message: Message): string {
  const attached = (message.attachments ?? []).map(attachmentChip).map(({ label, kind }) => `- ${kind}: ${label}`);
  const parts = message.parts.map(partMarkdown).filter(Boolean);
  if (message.auto || attached.length + parts.length === 0) return '';
  const author = { user: 'You', assistant: message.model?.name ?? 'Svc', summary: 'Summary' }[message.role];
  return [`## ${author}`, attached.join('\n'), ...parts].filter(Boolean).join('\n\n');
}

function partMarkdown(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text;
    case 'reasoning':
      return `<details><summary>Reasoning</summary>\n\n${part.text}\n\n</details>`;
    case 'tool':
      return `> Tool \`${part.name}\` with \`${part.text.replaceAll('`', "'")}\`: ${part.state.type}`;
    case 'step':
      return '';
  }
}
