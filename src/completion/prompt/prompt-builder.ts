import type { InsertionContext } from '../answer/completion-trimmer.ts';
import { type Clock, delay } from '../document/clock.ts';
import type { CompletionModel, CompletionSettings } from '../document/completion-settings.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import type { SendFimRequest } from '../request/in-flight.ts';
import { type ContextSource, inStableOrder, type Snippet } from './context.ts';
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
/** How long a request waits for context. */
const CONTEXT_MS = 30;
const CONTEXT_TIMEOUT_MS = 2_000;
/** Context is reused for this long, so that consecutive prompts start alike and nothing is computed twice. */
const CONTEXT_KEPT_MS = 15_000;

export interface PromptRequest {
  readonly fimRequest: SendFimRequest;
  readonly site: InsertionContext;
  /** Stand-in -> secret, to restore secrets in the answer. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly context: readonly string[];
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
  const prefix = redact(promptPrefix(document, window, snippets, budget.context), secrets);
  const suffix = redact(window.suffix, secrets);
  return {
    fimRequest: {
      prefix: prefix.text,
      suffix: suffix.text,
      ...promptLimits(site),
      ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    },
    site,
    secrets,
    context: snippets.map(({ path }) => path),
  };
}

function isCaretInSecret({ prefix, suffix }: PromptWindow): boolean {
  const near = `${prefix}${suffix}`.includes('PRIVATE KEY') ? Number.POSITIVE_INFINITY : SECRET_CHARACTERS;
  const before = prefix.slice(-near);
  return insideSecret(before + suffix.slice(0, near), before.length);
}

interface Kept {
  readonly at: number;
  readonly wanted: CompletionSettings['context'];
  readonly snippets: readonly Snippet[];
}

/** Context by document, fetched with a time limit and cached for a while. */
export class KeptContext {
  readonly #clock: Clock;
  readonly #source: ContextSource | undefined;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock, source: ContextSource | undefined) {
    this.#clock = clock;
    this.#source = source;
  }

  /** The snippets that are available within 30 ms. Later ones are kept for the next request. */
  async at(
    document: DocumentText,
    position: Position,
    wanted: CompletionSettings['context'],
    excluded: (path: string) => boolean,
  ): Promise<readonly Snippet[]> {
    const before = this.#kept.get(document.uri);
    if (this.#source === undefined) return [];
    const allowed = (snippets: readonly Snippet[]) => snippets.filter(({ path }) => !excluded(path));
    // Do not send context that the user has turned off since then.
    const kept = before?.wanted === wanted ? { ...before, snippets: allowed(before.snippets) } : undefined;
    if (kept !== undefined && this.#clock.now() - kept.at < CONTEXT_KEPT_MS) return kept.snippets;
    const fetching = new AbortController();
    const giveUp = this.#clock.after(CONTEXT_TIMEOUT_MS, () => fetching.abort());
    const found = this.#source({ document, position }, wanted, fetching.signal)
      .then(
        (snippets) => {
          const ordered = allowed(inStableOrder(snippets));
          this.#kept.set(document.uri, { at: this.#clock.now(), wanted, snippets: ordered });
          return ordered;
        },
        // A suggestion without context is better than none.
        () => [],
      )
      .finally(giveUp);
    const inTime = new AbortController();
    const late = delay(this.#clock, CONTEXT_MS, inTime.signal).then(() => kept?.snippets ?? []);
    const snippets = await Promise.race([found, late]);
    inTime.abort();
    return snippets;
  }

  forget(uri: string): void {
    this.#kept.delete(uri);
  }
}
