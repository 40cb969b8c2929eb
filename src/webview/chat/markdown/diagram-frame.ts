import { type DrawMessage, type DrawnMessage, readDrawn } from '../../diagram/diagram-message.ts';
import { t } from '../../shared/words.ts';

/** Milliseconds for one diagram. */
const LIMIT_MS = 5_000;
/** Milliseconds until the script of a new frame runs. */
const LOAD_MS = 20_000;
/** Milliseconds without a diagram after which the frame, which is a process, ends. */
const IDLE_MS = 30_000;
/** A larger picture takes the page's time. */
const MAX_SVG = 4_000_000;

/**
 * Draws diagrams one after another in a frame with an opaque origin. Chromium gives it a process of its own, so the page
 * goes on while a diagram is drawn, and the removal of the frame ends the work.
 */
export class DiagramFrame {
  readonly #script: string;
  #frame: HTMLIFrameElement | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;
  #idle: number | undefined;

  /** @param script runs in the frame; see `scripts/diagram-script.ts`. */
  constructor(script: string) {
    this.#script = script;
  }

  /** @returns SVG. @throws Error if the source is not valid or takes too long. */
  draw(source: string, dark: boolean): Promise<string> {
    const turn = this.#last.then(() => this.#draw(source, dark));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #draw(source: string, dark: boolean): Promise<string> {
    clearTimeout(this.#idle);
    const frame = this.#frame ?? (await this.#open());
    this.#count += 1;
    const message: DrawMessage = { number: this.#count, source, dark };
    const drawn = this.#answer(frame, message.number, LIMIT_MS);
    frame.contentWindow?.postMessage(message, '*');
    const { svg, error } = await drawn;
    this.#idle = window.setTimeout(() => this.#end(), IDLE_MS);
    if (svg === undefined) throw new Error(error);
    if (svg.length > MAX_SVG) throw new Error(t('It is too large.'));
    return svg;
  }

  async #open(): Promise<HTMLIFrameElement> {
    const frame = document.createElement('iframe');
    frame.className = 'diagram-frame';
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.setAttribute('aria-hidden', 'true');
    frame.tabIndex = -1;
    // The document has the policy of this page, which allows only scripts with its nonce.
    const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
    const script = this.#script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
    frame.srcdoc = `<!DOCTYPE html><meta charset="utf-8"><body><script nonce="${nonce}">${script}</script>`;
    this.#frame = frame;
    const ready = this.#answer(frame, 0, LOAD_MS);
    document.body.append(frame);
    await ready;
    return frame;
  }

  /** The message of the frame with this number. Without it, the frame ends. */
  #answer(frame: HTMLIFrameElement, number: number, limit: number): Promise<DrawnMessage> {
    return new Promise((resolve, reject) => {
      const end = () => {
        removeEventListener('message', receive);
        clearTimeout(timer);
      };
      const receive = ({ source, data }: MessageEvent<unknown>) => {
        const message = source === frame.contentWindow ? readDrawn(data) : undefined;
        if (message?.number !== number) return;
        end();
        resolve(message);
      };
      const timer = setTimeout(() => {
        end();
        this.#end();
        reject(new Error(t('It takes longer than {0} seconds.', limit / 1_000)));
      }, limit);
      addEventListener('message', receive);
    });
  }

  #end(): void {
    this.#frame?.remove();
    this.#frame = undefined;
  }
}
