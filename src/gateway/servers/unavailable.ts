import { SvcError } from '../../wire/errors/svc-error.ts';

/** The server did not answer, refused the connection, or can't be written. The call may be repeated. */
export class Unavailable extends SvcError {
  readonly reason: string;
  /** The server is there and refuses the user or the database. */
  readonly refused: boolean;
  /** The server is there and answered a statement with an error, such as that it can't be written. */
  readonly answered: boolean;

  constructor(reason: string, { refused = false, answered = false } = {}) {
    super({
      errorType: 'temporarily_unavailable',
      message: `The database of the gateway’s state can’t be used: ${reason}.`,
      retryable: true,
      retryAfterMs: 1_000,
    });
    this.reason = reason;
    this.refused = refused;
    this.answered = answered;
  }
}

/**
 * Waits for work until a deadline: a frozen server is one that can’t be reached. An answer that has arrived while this
 * process was busy is read first. @throws Unavailable after the deadline.
 */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const refuse = () => reject(new Unavailable(`no answer within ${milliseconds} ms`));
    timer = setTimeout(() => setImmediate(refuse), milliseconds);
  });
  // When the socket is closed after the deadline, the work fails too.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
