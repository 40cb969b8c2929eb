import { IgnorePatterns } from '../../base/ignore-patterns.ts';
import type { SuggestRequest } from '../document/suggestion.ts';
import type { CompletionSenderDeps } from '../request/completion-sender.ts';
import { type TriggerRefusal, triggerRefusal } from './trigger.ts';

type Document = SuggestRequest['document'];

/** Decides which documents have suggestions, by the settings and the files that must not be sent. */
export class CompletionGate {
  readonly #deps: Pick<CompletionSenderDeps, 'settings' | 'excluded'>;
  readonly #disabledFiles = new DisabledFiles();

  constructor(deps: Pick<CompletionSenderDeps, 'settings' | 'excluded'>) {
    this.#deps = deps;
  }

  /** Why a request has no suggestions; `undefined`: it may have some. */
  silence(request: SuggestRequest): TriggerRefusal | undefined {
    return triggerRefusal(request, this.#deps.settings()) ?? this.#refusalForFile(request.document);
  }

  /** True if typing in the document can cause requests. */
  automatic(document: Document): boolean {
    return this.#deps.settings().trigger === 'automatic' && this.admits(document);
  }

  /** True if the document can have suggestions. */
  admits(document: Document): boolean {
    return (
      triggerRefusal({ document }, this.#deps.settings()) === undefined && this.#refusalForFile(document) === undefined
    );
  }

  #refusalForFile(document: Document): TriggerRefusal | undefined {
    const off = this.#disabledFiles.matches(document, this.#deps.settings().disabledGlobs);
    return off ? 'file-off' : this.#deps.excluded?.(document.uri);
  }
}

/** The files that the setting `svc.completion.disabledGlobs` matches. */
class DisabledFiles {
  #globs: readonly string[] = [];
  #rules = new IgnorePatterns('');

  matches(document: Document, globs: readonly string[]): boolean {
    if (globs.length === 0) return false;
    if (globs !== this.#globs) {
      this.#globs = globs;
      this.#rules = new IgnorePatterns(globs.join('\n'));
    }
    const path = document.path ?? document.uri.replace(/^.*[/:]/, '');
    return this.#rules.ignores(path);
  }
}
