/** A command at the start of a message. It is replaced with `prompt` in the request. */
export interface SlashCommand {
  readonly name: string;
  readonly detail: string;
  readonly prompt: string;
  /** Attached automatically if the message has no other attachment. */
  readonly attaches?: 'selection' | 'diff';
}

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  {
    name: 'explain',
    detail: 'Explain the selected code',
    prompt: 'Explain what this code does, step by step, and point out anything surprising.',
    attaches: 'selection',
  },
  {
    name: 'fix',
    detail: 'Find and fix the problem',
    prompt: 'Find the problem in this code and show the corrected code with a short explanation.',
    attaches: 'selection',
  },
  {
    name: 'tests',
    detail: 'Write tests',
    prompt: 'Write tests for this code with the test framework that the project already uses. Cover the edge cases.',
    attaches: 'selection',
  },
  {
    name: 'doc',
    detail: 'Write documentation',
    prompt: 'Write a documentation comment for this code in the style of its language. Give only the commented code.',
    attaches: 'selection',
  },
  {
    name: 'commit',
    detail: 'Write a commit message',
    prompt:
      'Write a commit message for this diff: a subject of at most 72 characters, then the reason for the change if it is not obvious.',
    attaches: 'diff',
  },
];

/** Summarizes the history now. It is not sent as a message. */
export const COMPACT = 'compact';

/** Replaces a command at the start of a message with its prompt. Returns other text unchanged. */
export function expandCommand(text: string): { readonly text: string; readonly command?: SlashCommand } {
  const match = /^\/([\w-]+)(?:\s+|$)/.exec(text);
  const command = SLASH_COMMANDS.find(({ name }) => name === match?.[1]);
  if (!match || !command) return { text };
  const rest = text.slice(match[0].length).trim();
  return { text: rest === '' ? command.prompt : `${command.prompt}\n\n${rest}`, command };
}

export function isCompact(text: string): boolean {
  return text.trim() === `/${COMPACT}`;
}
