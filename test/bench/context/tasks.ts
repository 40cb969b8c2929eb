import { join, relative } from 'node:path';
import type { Project } from './project.ts';
import type { TsNode, TypeScript } from './typescript.ts';

/** A function whose body is missing. */
export interface ContextTask {
  readonly project: Project;
  /** Relative to the root of the project. */
  readonly file: string;
  /** The file without the body, before and after the caret. */
  readonly before: string;
  readonly after: string;
  /** The first line of the body. */
  readonly firstLine: string;
  /** Names in the body that are declared in other files of the project, with that file. */
  readonly needed: readonly { readonly name: string; readonly file: string }[];
}

export const MIN_LINES = 3;
export const MAX_LINES = 30;
export const MIN_NEEDED = 3;

/** Every function body of 3 to 30 lines with at least three names of other files, evenly chosen. */
export function findTasks(ts: TypeScript, project: Project, most: number): readonly ContextTask[] {
  const found = project.files.flatMap((file) => tasksOfFile(ts, project, file));
  const step = Math.max(1, found.length / most);
  return Array.from({ length: Math.min(most, found.length) }, (_, index) => found[Math.floor(index * step)]).filter(
    (task) => task !== undefined,
  );
}

function tasksOfFile(ts: TypeScript, project: Project, file: string): ContextTask[] {
  const source = project.service?.getProgram()?.getSourceFile(join(project.root, file));
  if (source === undefined) return [];
  const tasks: ContextTask[] = [];
  const visit = (node: TsNode): void => {
    const { body } = node;
    if (body?.kind === ts.SyntaxKind.Block) {
      const task = taskOf(ts, project, file, body);
      // A function inside it is part of its body.
      if (task !== undefined) return void tasks.push(task);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return tasks;
}

function taskOf(ts: TypeScript, project: Project, file: string, body: TsNode): ContextTask | undefined {
  const text = project.text(file);
  const inner = text.slice(body.getStart() + 1, body.getEnd() - 1);
  const lines = inner.split('\n').filter((line) => line.trim() !== '' && !/^\s*(?:\/\/|\*|\/\*)/.test(line));
  if (lines.length < MIN_LINES || lines.length > MAX_LINES) return undefined;
  const needed = neededNames(ts, project, file, body);
  if (needed.length < MIN_NEEDED) return undefined;
  const [first = ''] = lines;
  const indentation = /^\s*/.exec(first)?.[0] ?? '';
  const tail = /\n([ \t]*)$/.exec(inner)?.[1] ?? '';
  const before = `${text.slice(0, body.getStart() + 1)}\n${indentation}`;
  return { project, file, before, after: `\n${tail}${text.slice(body.getEnd() - 1)}`, firstLine: first.trim(), needed };
}

function neededNames(ts: TypeScript, project: Project, file: string, body: TsNode): ContextTask['needed'] {
  const checker = project.service?.getProgram()?.getTypeChecker();
  const found = new Map<string, string>();
  const visit = (node: TsNode): void => {
    ts.forEachChild(node, visit);
    if (node.kind !== ts.SyntaxKind.Identifier || checker === undefined) return;
    const symbol = checker.getSymbolAtLocation(node);
    if (symbol === undefined) return;
    const target = (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol;
    const declared = target.declarations?.[0]?.getSourceFile().fileName;
    const other = declared === undefined ? undefined : relative(project.root, declared);
    if (other === undefined || other === file || !project.files.includes(other)) return;
    found.set(node.text ?? '', other);
  };
  visit(body);
  return [...found].map(([name, declared]) => ({ name, file: declared }));
}
