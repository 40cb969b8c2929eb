import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ProjectDeclarations } from '../../../src/completion/context/project-declarations.ts';
import type { DeclaredAt, ProjectReader } from '../../../src/completion/context/project-reader.ts';
import { systemClock } from '../../../src/completion/document/clock.ts';
import type { CompletionModel } from '../../../src/completion/document/completion-settings.ts';
import { DEFAULT_COMPLETION_SETTINGS } from '../../../src/completion/document/completion-settings.ts';
import type { DocumentText, Position } from '../../../src/completion/document/document-text.ts';
import { type ContextSource, SimilarSnippets } from '../../../src/completion/prompt/context.ts';
import { KeptContext } from '../../../src/completion/prompt/kept-context.ts';
import { buildPrompt } from '../../../src/completion/prompt/prompt-builder.ts';
import { promptBudget } from '../../../src/completion/prompt/prompt-window.ts';
import type { Project } from './project.ts';
import { commonPrefix, contextOf, type Recall, recallOf } from './recall.ts';
import type { ContextTask } from './tasks.ts';

const MODEL: CompletionModel = { ref: 'bench/fim', contextTokens: 32_000 };

export interface Sources {
  readonly language: boolean;
  readonly paths: boolean;
  /** The declaring files were opened before. */
  readonly opened: boolean;
}

export interface Measured {
  readonly first: Recall;
  readonly best: Recall;
  /** Bytes of consecutive prompts that are the same, and all. */
  readonly same: number;
  readonly all: number;
  /** Until everything was known. */
  readonly gatherMs: number;
}

/** The cursor rests in the empty body, then the first line is typed, with the engine alone. */
export async function measureInNode(task: ContextTask, sources: Sources): Promise<Measured> {
  const { project, file, before, after, firstLine } = task;
  const text = { before, version: 1 };
  const document = (): DocumentText => documentOf(project, file, text.before + after, text.version);
  const overlay = () => project.overlay(file, text.before + after);
  const visited = sources.opened ? [...new Set(task.needed.map((each) => each.file))] : [];
  const declarations = new ProjectDeclarations(readerOf(project, sources, visited));
  const similar = new SimilarSnippets(20);
  let done = () => {};
  const source: ContextSource = async (place, _, signal, report) => {
    const others = visited.map((each) => documentOf(project, each, project.text(each), 1));
    const near = place.document === undefined ? '' : text.before.slice(-1_200);
    const tabs = similar.find(others, near).map(({ document: { path = '' }, line, text: piece, score }) => {
      return { kind: 'open-tab' as const, path, line, text: piece, score: 0.5 + 4 * score };
    });
    const found = await declarations.find(place, signal, (part) => report([...part, ...tabs]));
    queueMicrotask(() => setImmediate(done));
    return [...found, ...tabs];
  };
  const kept = new KeptContext(systemClock, source);
  const options = {
    wanted: DEFAULT_COMPLETION_SETTINGS.context,
    excluded: () => false,
    room: promptBudget(MODEL).context,
  };
  const caret = () => {
    const lines = text.before.split('\n');
    return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
  };
  const start = performance.now();
  overlay();
  const gathered = new Promise<void>((resolve) => {
    done = resolve;
  });
  kept.prepare(document(), caret(), options);
  await gathered;
  const gatherMs = performance.now() - start;
  const prompts: string[] = [];
  for (const character of firstLine) {
    text.before += character;
    text.version += 1;
    overlay();
    const snippets = await kept.at(document(), caret(), options);
    const prompt = buildPrompt(document(), caret(), snippets, { model: MODEL, maxLines: 12 });
    prompts.push(prompt?.fimRequest.prefix ?? '');
    // What is looked up meanwhile is there for the next key.
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  project.overlay(file, undefined);
  return summarize(task, prompts, gatherMs);
}

export function summarize(task: ContextTask, prompts: readonly string[], gatherMs: number): Measured {
  const recalls = prompts.map((prompt) => recallOf(task, contextOf(prompt, task.file)));
  const [first = recallOf(task, '')] = recalls;
  const best = recalls.reduce((one, other) => (other.found > one.found ? other : one), first);
  let same = 0;
  let all = 0;
  for (const [index, prompt] of prompts.entries()) {
    const previous = prompts[index - 1];
    if (previous === undefined) continue;
    same += commonPrefix(previous, prompt);
    all += previous.length;
  }
  return { first, best, same, all, gatherMs };
}

function readerOf(project: Project, sources: Sources, visited: readonly string[]): ProjectReader {
  const { service } = project;
  return {
    now: () => performance.now(),
    visited: async () => visited.map((file) => documentOf(project, file, project.text(file), 1)),
    read: async (uri) => {
      const file = relative(pathToFileURL(project.root).href, uri);
      return sources.paths || sources.language ? readIn(project, file) : undefined;
    },
    signature: async () => undefined,
    expected: async () => [],
    declarations: async (uri, { line, character }, of) => {
      if (!sources.language) return [];
      if (service === undefined) return of === 'type' ? [] : scripted(project, uri, { line, character });
      const path = new URL(uri).pathname;
      const content = service.getProgram()?.getSourceFile(path)?.text ?? '';
      const offset = content.split('\n').slice(0, line).join('\n').length + (line > 0 ? 1 : 0) + character;
      const found =
        of === 'name'
          ? service.getDefinitionAtPosition(path, offset)
          : service.getTypeDefinitionAtPosition(path, offset);
      return (found ?? []).map(({ fileName, textSpan }): DeclaredAt => {
        const head = (service.getProgram()?.getSourceFile(fileName)?.text ?? '').slice(0, textSpan.start).split('\n');
        return { uri: pathToFileURL(fileName).href, line: head.length - 1, character: head.at(-1)?.length ?? 0 };
      });
    },
  };
}

/** The declaration of the name at a place, if another file has it. */
function scripted(project: Project, uri: string, { line, character }: Position): readonly DeclaredAt[] {
  const file = relative(project.root, new URL(uri).pathname);
  const name = /^\w+/.exec((project.seen?.(file) ?? '').split('\n')[line]?.slice(character) ?? '')?.[0] ?? '';
  const declared = project.names?.get(name);
  if (declared === undefined || declared.file === file) return [];
  return [{ ...declared, uri: pathToFileURL(join(project.root, declared.file)).href }];
}

function readIn(project: Project, file: string): DocumentText | undefined {
  return project.files.includes(file) ? documentOf(project, file, project.text(file), 1) : undefined;
}

function documentOf(project: Project, file: string, text: string, version: number): DocumentText {
  const lines = text.split('\n');
  return {
    uri: pathToFileURL(join(project.root, file)).href,
    path: file,
    languageId: project.languageId ?? (file.endsWith('.js') ? 'javascript' : 'typescript'),
    version,
    eol: '\n',
    lineCount: lines.length,
    lineAt: (line) => lines[line] ?? '',
  };
}
