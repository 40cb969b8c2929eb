import type { ContextTask } from './tasks.ts';

/** What a prompt has of what the missing body needs. */
export interface Recall {
  readonly needed: number;
  /** Needed names that the context has. */
  readonly found: number;
  /** Those that the file itself does not show. */
  readonly hidden: number;
  readonly hiddenFound: number;
  /** Characters of the context, and of its lines with a needed name. */
  readonly characters: number;
  readonly useful: number;
  /** Needed names that the context does not have. */
  readonly missing: readonly string[];
}

/** @param context the part of the prompt before the path of the file itself. */
export function recallOf({ needed, before, after }: ContextTask, context: string): Recall {
  const inContext = words(context);
  const inFile = words(before + after);
  const names = needed.map(({ name }) => name);
  const hidden = names.filter((name) => !inFile.has(name));
  const wanted = new Set(names);
  const useful = context.split('\n').filter((line) => [...words(line)].some((word) => wanted.has(word)));
  return {
    needed: names.length,
    found: names.filter((name) => inContext.has(name)).length,
    hidden: hidden.length,
    hiddenFound: hidden.filter((name) => inContext.has(name)).length,
    characters: context.length,
    useful: useful.join('\n').length,
    missing: names.filter((name) => !inContext.has(name)),
  };
}

/** The text before the last line with the path of the file itself. */
export function contextOf(prompt: string, file: string): string {
  const own = Math.max(prompt.lastIndexOf(` Path: ${file}\n`), prompt.lastIndexOf(`+++++ ${file}\n`));
  return prompt.slice(0, prompt.lastIndexOf('\n', own) + 1);
}

export function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

function words(text: string): Set<string> {
  return new Set(text.match(/[A-Za-z_$][\w$]*/g) ?? []);
}
