import { createHmac } from 'node:crypto';

export interface ProvenProcess {
  /** Chosen by the asker, so that an old proof is worth nothing. */
  readonly nonce: string;
  /** The port that the process listens on. */
  readonly port: number;
  readonly pid: number;
}

/**
 * Signs who listens at a port. The window that started the gateway compares it before it sends its key there, because
 * any user of the machine can listen at a port that is free.
 */
export function proveProcess(secret: string, { nonce, port, pid }: ProvenProcess): string {
  return createHmac('sha256', secret).update(`${nonce} ${port} ${pid}`).digest('base64url');
}
