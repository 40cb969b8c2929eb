import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

/** All documentation pages, relative to the repository. */
export const PAGES: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'media/extension.md'],
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

/** Blocks of code between fences. */
export function blocks(page: string): Block[] {
  const found: Block[] = [];
  const lines = read(page).split('\n');
  let open: { readonly line: number; readonly language: string } | undefined;
  for (const [index, line] of lines.entries()) {
    const [, language] = /^```(\w*)$/.exec(line) ?? [];
    if (language === undefined) continue;
    if (open === undefined) open = { line: index + 1, language };
    else {
      found.push({ page, ...open, text: lines.slice(open.line, index).join('\n') });
      open = undefined;
    }
  }
  return found;
}

/** The text outside code blocks. */
export function prose(page: string): string {
  return read(page).replace(/^```[\s\S]*?^```$/gm, '');
}

/** The commands of a shell block: continued lines joined, comments and empty lines gone. */
export function commands({ text }: Block): string[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/\s+#\s.*$|^#\s.*$/, '').trim())
    .filter((line) => line !== '');
}
