import { SerialQueue } from '../../base/concurrency.ts';
import type { ChatSession } from '../../chat/session/session.ts';
import type { Ending, Message, PendingRetry } from '../../chat/transcript.ts';
import { endingWarning } from '../../wire/endings.ts';
import { retryMessage } from '../../wire/errors/retry-message.ts';
import { formatMessage } from '../../wire/errors/svc-error.ts';
import { type Io, stoppedCode } from '../io.ts';
import { TerminalMarkdown } from './terminal-markdown.ts';

/** Prints an answer while it streams: the text on standard output, everything else on standard error. */
export class AnswerPrinter {
  readonly #io: Io;
  readonly #session: ChatSession;
  /** Pending output, in order. A slow reader delays the printing, not the stream. */
  readonly #pending = new SerialQueue();
  /** Absent: the output is not a terminal, so the text is printed unchanged. */
  #markdown: TerminalMarkdown | undefined;
  #endsLine = true;
  #broken: unknown;

  constructor(io: Io, session: ChatSession) {
    this.#io = io;
    this.#session = session;
    session.onPatch((patch) => {
      if (patch.type === 'append' && (patch.kind === 'text' || patch.kind === 'refusal')) this.#print(patch.text);
      if (patch.type === 'retry') this.#note(`${retryText(patch.retry)}. Ctrl-C stops.`);
      if (patch.type === 'add' && patch.message.role === 'summary') this.#note('The conversation was summarized.');
    });
  }

  /** Ends the line, prints a warning or error if the answer did not end normally, and resolves with the exit code. */
  async end(answer: Message | undefined): Promise<number> {
    if (!this.#endsLine) this.#print('\n');
    this.#draw(this.#markdown?.end() ?? '');
    this.#markdown = undefined;
    await this.#pending.run(() => undefined);
    if (this.#broken !== undefined) throw this.#broken;
    const ending = answer?.ending;
    const endingText = ending && describeEnding(ending);
    if (endingText !== undefined) await this.#io.err(`${endingText}\n`);
    return ending === undefined || ending.type === 'failed'
      ? 1
      : ending.type === 'stopped'
        ? stoppedCode(this.#io.signal)
        : 0;
  }

  #print(text: string): void {
    this.#endsLine = text.endsWith('\n');
    if (!this.#io.styles) return this.#write(this.#io.out, text);
    this.#markdown ??= new TerminalMarkdown();
    this.#draw(this.#markdown.write(text));
  }

  /** Prints text with our own sequences. */
  #draw(text: string): void {
    if (text !== '') this.#write(this.#io.draw ?? this.#io.out, text);
  }

  #write(write: Io['out'], text: string): void {
    void this.#pending.run(async () => {
      if (this.#broken !== undefined) return;
      try {
        await write(text);
      } catch (thrown) {
        // The reader has ended, so the rest of the answer is not requested.
        this.#broken = thrown;
        this.#session.stop();
      }
    });
  }

  #note(text: string): void {
    this.#write(this.#io.err, `${text}\n`);
  }
}

function retryText(retry: PendingRetry): string {
  return formatMessage(retryMessage(retry, Math.max(1, Math.ceil((retry.at - Date.now()) / 1000))));
}

function describeEnding(ending: Ending): string | undefined {
  switch (ending.type) {
    case 'stopped':
      return undefined;
    case 'repeating':
      return `warning: The model repeated the same call of ${ending.tool}.`;
    case 'paused':
      return `warning: The answer was paused after ${ending.steps} steps.`;
    case 'failed': {
      const { message, advice } = ending.error;
      return `svc: ${message}${advice === undefined ? '' : `\n${advice}`}`;
    }
    case 'finished': {
      if (ending.outcome === 'empty') return 'warning: The model returned an empty answer.';
      const warning = endingWarning(ending.outcome);
      return warning === undefined ? undefined : `warning: ${warning}`;
    }
  }
}
