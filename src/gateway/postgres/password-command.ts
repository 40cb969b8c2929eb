import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Unavailable } from '../servers/unavailable.ts';

/** Milliseconds for which a password is used again: the connections of a start share it. Tokens are valid for minutes. */
const KEPT_MS = 60_000;
/** Milliseconds after which the program is run again if it failed or its password was refused. */
const AGAIN_MS = 2_000;
/** Milliseconds for the program. */
const LIMIT_MS = 15_000;
const MAX_BYTES = 65_536;
const MAX_ERROR = 200;

/** Reads passwords that expire, such as the tokens of a cloud's database, from a program. */
export class PasswordCommand {
  readonly #command: () => readonly string[] | undefined;
  #last: { readonly command: string; readonly password: Promise<string>; until: number } | undefined;

  /** @param command the program and its arguments. Undefined: the password is in the address. */
  constructor(command: () => readonly string[] | undefined) {
    this.#command = command;
  }

  /** The first line that the program prints. @throws Unavailable if it fails. */
  async read(): Promise<string | undefined> {
    const command = this.#command();
    if (command === undefined) return undefined;
    const key = JSON.stringify(command);
    if (this.#last?.command !== key || performance.now() > this.#last.until) {
      this.#last = { command: key, password: runCommand(command), until: performance.now() + LIMIT_MS + KEPT_MS };
    }
    try {
      return await this.#last.password;
    } catch (thrown) {
      this.refused();
      throw thrown;
    }
  }

  /** The program failed, or the server refuses the last password. The program is run again, but not all the time. */
  refused(): void {
    if (this.#last !== undefined) this.#last.until = Math.min(this.#last.until, performance.now() + AGAIN_MS);
  }
}

async function runCommand([file = '', ...args]: readonly string[]): Promise<string> {
  // A program may ignore a polite end.
  const options = { timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES, windowsHide: true } as const;
  try {
    const running = promisify(execFile)(file, args, options);
    // One that asks a question gets no answer.
    running.child.stdin?.end();
    const { stdout } = await running;
    const [first = ''] = stdout.split(/\r?\n/, 1);
    if (first === '') throw new Unavailable('gateway.statePasswordCommand prints no password');
    return first;
  } catch (thrown) {
    if (thrown instanceof Unavailable) throw thrown;
    throw new Unavailable(`gateway.statePasswordCommand ${describeFailure(thrown)}`);
  }
}

/** Without what was printed as the password. */
function describeFailure(thrown: unknown): string {
  const { code, killed, stderr } = Object(thrown) as { code?: unknown; killed?: unknown; stderr?: unknown };
  if (typeof code === 'string') return `can’t be run (${code})`;
  if (killed === true) return `did not end within ${LIMIT_MS / 1000} seconds`;
  const [first = ''] = String(stderr ?? '')
    .trim()
    .split(/\r?\n/, 1);
  return `ended with code ${String(code)}${first === '' ? '' : `: ${first.slice(0, MAX_ERROR)}`}`;
}
