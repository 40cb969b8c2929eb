import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from './project.ts';
import { type ContextTask, MAX_LINES, MIN_LINES, MIN_NEEDED } from './tasks.ts';

interface Grammar {
  /** Declarations of a line; the first group is the name. */
  readonly declared: RegExp;
  /** The line before a body. */
  readonly head: RegExp;
}

/** Python, Go and Rust, as far as the files in `fixtures` use them. */
const LANGUAGES: Readonly<Record<string, Grammar>> = {
  python: { declared: /^\s*(?:def|class) (\w+)|^ {4}(\w+): /, head: /^\s*def .*:$/ },
  go: { declared: /^(?:func (?:\([^)]*\) )?|type |var )(\w+)|^\t(?!return\b)(\w+) +\S+$/, head: /^func .*\{$/ },
  rust: { declared: /\b(?:fn|struct|enum) (\w+)|^ +pub (\w+): |^ {4}([A-Z]\w*),$/, head: /^\s*pub fn .*\{$/ },
};

/** Small projects with a scripted language server: it knows where each name is declared. */
export function loadFixtures(): readonly Project[] {
  return Object.entries(LANGUAGES).map(([languageId, { declared }]) => {
    const root = join(import.meta.dirname, 'fixtures', languageId);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.\w+$/.test(file))
      .map((file) => file.replaceAll('\\', '/'))
      .sort();
    const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
    const names = new Map<string, { file: string; line: number; character: number }>();
    for (const [file, text] of texts) {
      for (const [line, each] of text.split('\n').entries()) {
        const name = declared
          .exec(each)
          ?.slice(1)
          .find((group) => group !== undefined);
        if (name !== undefined && !names.has(name)) names.set(name, { file, line, character: each.indexOf(name) });
      }
    }
    const overlays = new Map<string, string | undefined>();
    const text = (file: string) => texts.get(file) ?? '';
    return {
      name: languageId,
      languageId,
      root,
      files,
      names,
      text,
      seen: (file) => overlays.get(file) ?? text(file),
      overlay: (file, content) => void overlays.set(file, content),
    };
  });
}

/** Every function body of 3 to 30 lines with at least three names of other files. */
export function findFixtureTasks(project: Project): readonly ContextTask[] {
  return project.files.flatMap((file) => {
    const lines = project.text(file).split('\n');
    return lines.flatMap((head, at) => (isHead(project, head) ? taskOf(project, file, lines, at) : []));
  });
}

function isHead({ languageId = '' }: Project, line: string): boolean {
  return LANGUAGES[languageId]?.head.test(line) ?? false;
}

function taskOf(project: Project, file: string, lines: readonly string[], head: number): ContextTask[] {
  const depth = indentation(lines[head] ?? '');
  let end = head + 1;
  while (end < lines.length && (lines[end]?.trim() === '' || indentation(lines[end] ?? '').length > depth.length))
    end++;
  while (lines[end - 1]?.trim() === '') end--;
  const body = lines.slice(head + 1, end);
  const words = new Set(body.join('\n').match(/[A-Za-z_]\w*/g) ?? []);
  const needed = [...words].flatMap((name) => {
    const declared = project.names?.get(name);
    return declared === undefined || declared.file === file ? [] : [{ name, file: declared.file }];
  });
  const [first = ''] = body;
  if (body.length < MIN_LINES || body.length > MAX_LINES || needed.length < MIN_NEEDED) return [];
  const before = `${lines.slice(0, head + 1).join('\n')}\n${indentation(first)}`;
  return [{ project, file, before, after: `\n${lines.slice(end).join('\n')}`, firstLine: first.trim(), needed }];
}

function indentation(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? '';
}
