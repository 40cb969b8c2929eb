import { IgnorePatterns } from '../../base/ignore-patterns.ts';
import type { SuggestRequest } from '../document/suggestion.ts';
import type { CompletionSenderDeps } from '../request/completion-sender.ts';
import { isLanguageEnabled, type TriggerRefusal, triggerRefusal } from './trigger.ts';

type Document = SuggestRequest['document'];

/** Which documents anything may be suggested in, by the settings and by what must not be sent. */
export class CompletionGate {
  readonly #deps: Pick<CompletionSenderDeps, 'settings' | 'excluded'>;
  readonly #filesOff = new FilesOff();

  constructor(deps: Pick<CompletionSenderDeps, 'settings' | 'excluded'>) {
    this.#deps = deps;
  }

  /** Why nothing is shown for a request; `undefined`: go on. */
  silence(request: SuggestRequest): TriggerRefusal | undefined {
    return triggerRefusal(request, this.#deps.settings()) ?? this.#silenceOfFile(request.document);
  }

  /** Whether typing in a document is likely to ask for something. */
  automatic(document: Document): boolean {
    const { enabled, languages, trigger } = this.#deps.settings();
    const on = enabled && trigger === 'automatic' && isLanguageEnabled(document.languageId, languages);
    return on && this.#silenceOfFile(document) === undefined;
  }

  #silenceOfFile(document: Document): TriggerRefusal | undefined {
    const off = this.#filesOff.holds(document, this.#deps.settings().disabledGlobs);
    return off ? 'file-off' : this.#deps.excluded?.(document.uri);
  }
}

/** The files in which nothing is suggested, by the patterns of the setting. */
class FilesOff {
  #globs: readonly string[] = [];
  #rules = new IgnorePatterns('');

  holds(document: Document, globs: readonly string[]): boolean {
    if (globs.length === 0) return false;
    if (globs !== this.#globs) {
      this.#globs = globs;
      this.#rules = new IgnorePatterns(globs.join('\n'));
    }
    const path = document.path ?? document.uri.replace(/^.*[/:]/, '');
    return this.#rules.ignores(path);
  }
}
