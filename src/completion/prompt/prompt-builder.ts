import { defined } from '../../base/json.ts';
import type { ContextFile } from '../../wire/fim/fim-request.ts';
import type { InsertionContext } from '../answer/completion-trimmer.ts';
import type { CompletionModel } from '../document/completion-settings.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import type { SendFimRequest } from '../request/request-log.ts';
import { headingOf, type Snippet } from './context.ts';
import {
  insertionContext,
  ownPath,
  type PromptWindow,
  promptBudget,
  promptLimits,
  promptPrefix,
  windowAround,
} from './prompt-window.ts';
import { insideSecret, redact } from './redact.ts';

/** Characters before and after the caret that show whether it is inside a secret. A private key can be longer. */
const SECRET_CHARACTERS = 400;

export interface PromptRequest {
  readonly fimRequest: SendFimRequest;
  readonly site: InsertionContext;
  /** Stand-in -> secret, to restore secrets in the answer. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly context: readonly Snippet[];
}

/** Builds the FIM request for a caret; `undefined` if the caret is inside a secret, which must not be sent. */
export function buildPrompt(
  document: DocumentText,
  position: Position,
  snippets: readonly Snippet[],
  options: {
    readonly model: CompletionModel;
    readonly maxLines: number;
    readonly indentation?: InsertionContext['indentation'];
    readonly temperature?: number;
  },
): PromptRequest | undefined {
  const budget = promptBudget(options.model);
  const window = windowAround(document, position, budget);
  if (isCaretInSecret(window)) return undefined;
  const site = insertionContext(document, position, window, options);
  const secrets = new Map<string, string>();
  const place = options.model.contextPlace ?? 'prefix';
  const inPrefix = place === 'prefix' ? snippets : snippets.filter(({ kind }) => kind === 'cell');
  const context = place === 'prefix' ? [] : contextFiles(snippets, secrets);
  const path = place === 'context-and-path' ? ownPath(document, snippets) : undefined;
  const prefix = redact(promptPrefix(document, window, inPrefix, path === undefined), secrets);
  const suffix = redact(window.suffix, secrets);
  return {
    fimRequest: {
      prefix: prefix.text,
      suffix: suffix.text,
      ...promptLimits(site),
      ...defined({ temperature: options.temperature, path }),
      ...(context.length === 0 ? {} : { context }),
    },
    site,
    secrets,
    context: snippets,
  };
}

/** The pieces of each file, masked. */
function contextFiles(snippets: readonly Snippet[], secrets: Map<string, string>): readonly ContextFile[] {
  const files: ContextFile[] = [];
  for (const snippet of snippets) {
    if (snippet.kind === 'cell') continue;
    const path = headingOf(snippet);
    const { text } = redact(snippet.text.trimEnd(), secrets);
    const last = files.at(-1);
    if (last?.path === path) files[files.length - 1] = { path, text: `${last.text}\n${text}` };
    else files.push({ path, text });
  }
  return files;
}

function isCaretInSecret({ prefix, suffix }: PromptWindow): boolean {
  const near = `${prefix}${suffix}`.includes('PRIVATE KEY') ? Number.POSITIVE_INFINITY : SECRET_CHARACTERS;
  const before = prefix.slice(-near);
  return insideSecret(before + suffix.slice(0, near), before.length);
}
