import { defined } from '../../base/json.ts';
import type { InsertionContext } from '../answer/completion-trimmer.ts';
import type { CompletionModel } from '../document/completion-settings.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import type { SendFimRequest } from '../request/request-log.ts';
import type { Snippet } from './context.ts';
import {
  insertionContext,
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
  const prefix = redact(promptPrefix(document, window, snippets), secrets);
  const suffix = redact(window.suffix, secrets);
  return {
    fimRequest: {
      prefix: prefix.text,
      suffix: suffix.text,
      ...promptLimits(site),
      ...defined({ temperature: options.temperature }),
    },
    site,
    secrets,
    context: snippets,
  };
}

function isCaretInSecret({ prefix, suffix }: PromptWindow): boolean {
  const near = `${prefix}${suffix}`.includes('PRIVATE KEY') ? Number.POSITIVE_INFINITY : SECRET_CHARACTERS;
  const before = prefix.slice(-near);
  return insideSecret(before + suffix.slice(0, near), before.length);
}
