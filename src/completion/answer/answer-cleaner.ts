import { EXPLANATION, FENCE_LINE, INTRODUCTION, isSentence } from '../../wire/answer-content.ts';
import { afterOrphanTag } from '../../wire/reasoning-tags.ts';

/**
 * Text with which models and servers end or structure an answer: tokens of FIM and chat templates (the model cards of
 * Qwen-Coder, DeepSeek-Coder, StarCoder, CodeLlama, Codestral, CodeGemma; Llama 3, ChatML and Mistral for chat).
 */
const CONTROL_TEXT =
  /<\|[\w▁-]{1,40}\|?>|<[|｜][\w▁-]{1,40}[|｜]>|<\/?(?:fim_(?:prefix|suffix|middle|pad)|file_sep|repo_name|reponame|filename|gh_stars|jupyter_\w{1,30}|empty_output|commit_(?:before|msg|after)|end_of_turn|start_of_turn|eos|bos|EOT|PRE|SUF|MID|END)>|<\/s>$|(?<![\w)\]])\[(?:SUFFIX|PREFIX|MIDDLE|\/?INST|TOOL_CALLS|CURSOR)\]/;
/** Characters that source code does not contain, among them the overrides of the text direction (Trojan Source). */
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufff9-\ufffb\ufffe\uffff]/;
const DIRECTION_OVERRIDE = /[\u202a-\u202e\u2066-\u2069]/;
/** Characters without width. */
const INVISIBLE = /[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\ufeff]/g;
/** Joiners are part of emoji and of words in several scripts, but not of ASCII text. */
const JOINER = /(?<![^\u0000-\u007f])[\u200c\u200d]|[\u200c\u200d](?![^\u0000-\u007f])/g;
const FOREIGN = [CONTROL_TEXT, FORBIDDEN, DIRECTION_OVERRIDE, INVISIBLE, JOINER];

/** True if a text has tokens of templates, control characters or invisible characters, and the code that it replaces has none. */
export function hasForeignText(text: string, code: string): boolean {
  return FOREIGN.some((pattern) => text.search(pattern) >= 0 && code.search(pattern) < 0);
}

/** The result for one line of an answer. */
export interface CleanLine {
  /** `undefined`: nothing of the line is left. */
  readonly text: string | undefined;
  /** The answer ends with this line. */
  readonly ends: boolean;
}

const NOTHING: CleanLine = { text: undefined, ends: false };
const END: CleanLine = { text: undefined, ends: true };

/** Removes text that is not code from an answer, line by line: control text, fences, prose around code. */
export class AnswerCleaner {
  /** Whether the document near the caret contains a text. Such text may be in the answer. */
  readonly #has: (text: string) => boolean;
  /** The text that is not code here: neither in prose and comments, no sentences in strings. */
  readonly #removes: { readonly fences: boolean; readonly sentences: boolean };
  #fenced = false;
  /** A line with text was returned. */
  #begun = false;
  #afterBlank = false;
  /** Something before the answer was removed. Blank lines after it are removed too. */
  #removed = false;

  constructor(has: (text: string) => boolean, removes: { readonly fences: boolean; readonly sentences: boolean }) {
    this.#has = has;
    this.#removes = removes;
  }

  clean(raw: string): CleanLine {
    const { text, ends } = this.#cleanLine(raw);
    if (text === undefined) this.#removed = true;
    else if (text.trim() !== '') this.#begun = true;
    else if (this.#removed && !this.#begun) return { text: undefined, ends };
    return { text, ends };
  }

  #cleanLine(raw: string): CleanLine {
    // Some chat templates write the opening tag of reasoning into the prompt.
    const after = this.#begun || this.#has('</think>') ? undefined : afterOrphanTag(raw);
    if (after?.trim() === '') return NOTHING;
    const { text, ends } = this.#withoutControlText(after ?? raw);
    if (text.trim() === '') {
      this.#afterBlank = true;
      return raw.trim() === '' ? { text, ends } : ends ? END : NOTHING;
    }
    const line = this.#removes.fences ? this.#withoutWrapper(text) : { text, ends: false };
    this.#afterBlank = false;
    return { text: line.text, ends: ends || line.ends };
  }

  #withoutControlText(line: string): { readonly text: string; readonly ends: boolean } {
    let text = line;
    for (;;) {
      const found = CONTROL_TEXT.exec(text);
      if (found === null || this.#has(found[0])) break;
      // Some servers return the token that starts the answer.
      const starts = !this.#begun && text.slice(0, found.index).trim() === '';
      if (!starts) return { text: this.#visibleText(text.slice(0, found.index).trimEnd()), ends: true };
      text = text.slice(found.index + found[0].length);
    }
    const forbidden = text.search(FORBIDDEN);
    const override = text.search(DIRECTION_OVERRIDE);
    const cut = Math.min(
      forbidden >= 0 && !this.#has(text[forbidden] ?? '') ? forbidden : text.length,
      override >= 0 ? override : text.length,
    );
    return { text: this.#visibleText(text.slice(0, cut)), ends: cut < text.length };
  }

  #visibleText(text: string): string {
    const remove = (found: string) => (this.#has(found) ? found : '');
    return text.replace(INVISIBLE, remove).replace(JOINER, remove);
  }

  /** The line without a Markdown fence and without sentences around code. */
  #withoutWrapper(line: string): { readonly text: string | undefined; readonly ends: boolean } {
    if (FENCE_LINE.test(line)) return this.#fence(line);
    if (this.#fenced && /\S(?:```|~~~)\s*$/.test(line)) {
      return { text: line.replace(/(?:```|~~~)\s*$/, ''), ends: true };
    }
    if (!this.#removes.sentences) return { text: line, ends: false };
    if (!this.#begun && !this.#fenced && INTRODUCTION.test(line.trim()) && isSentence(line)) return NOTHING;
    if (this.#begun && this.#afterBlank && EXPLANATION.test(line.trim()) && isSentence(line)) return END;
    return { text: line, ends: false };
  }

  #fence(line: string): CleanLine {
    if (this.#begun || this.#fenced) return END;
    this.#fenced = true;
    // The code may be on the line of the fence.
    const code = /^\s*(?:```|~~~)[\w+#.-]* +(\S.*?)(?:```|~~~)?\s*$/.exec(line)?.[1];
    return code === undefined ? NOTHING : { text: code, ends: false };
  }
}
