import { IgnorePatterns } from '../base/ignore-patterns.ts';
import type { SendingPorts } from './sending.ts';
import type { SuggestRequest } from './suggestion.ts';
import { languageOn, type Silence, silenceOf } from './trigger.ts';

type Document = SuggestRequest['document'];

/** Which documents anything may be suggested in, by the settings and by what must not be sent. */
export class Admission {
  readonly #ports: Pick<SendingPorts, 'settings' | 'excluded'>;
  readonly #filesOff = new FilesOff();

  constructor(ports: Pick<SendingPorts, 'settings' | 'excluded'>) {
    this.#ports = ports;
  }

  /** Why nothing is shown for a request; `undefined`: go on. */
  silence(request: SuggestRequest): Silence | undefined {
    return silenceOf(request, this.#ports.settings()) ?? this.#silenceOfFile(request.document);
  }

  /** Whether typing in a document is likely to ask for something. */
  automatic(document: Document): boolean {
    const { enabled, languages, trigger } = this.#ports.settings();
    const on = enabled && trigger === 'automatic' && languageOn(document.languageId, languages);
    return on && this.#silenceOfFile(document) === undefined;
  }

  #silenceOfFile(document: Document): Silence | undefined {
    const off = this.#filesOff.holds(document, this.#ports.settings().disabledGlobs);
    return off ? 'file-off' : this.#ports.excluded?.(document.uri);
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
