/** A command that begins a message. The model gets `prompt` in its place. */
export interface SlashCommand {
  readonly name: string;
  readonly detail: string;
  readonly prompt: string;
  /** What it goes along with when nothing else is attached. */
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
    prompt: 'Find what is wrong with this code and show the corrected code with a short explanation.',
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
      'Write a commit message for this diff: a subject of at most 72 characters, then why it was done if that is not obvious.',
    attaches: 'diff',
  },
];

/** By hand: the history is summarized now. It is no message. */
export const COMPACT = 'compact';

/** A message that begins with a command, as the model gets it; the text as it is when there is none. */
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
