/** One request to an upstream. */
export interface TransportRequest {
  readonly method: 'GET' | 'OPTIONS' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** When it fires, the socket is closed immediately. */
  readonly signal: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** A header by its lower-case name. */
  header(name: string): string | undefined;
  /** Decompressed. Leaving the iteration early closes the socket. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Sends requests to an upstream: with VS Code's fetch in the editor (it uses the user's proxy and
 * certificates), with undici in the terminal and the gateway (several times less work per request).
 */
export interface Transport {
  /** @throws SvcError network_error if there is no answer; the signal's reason if it fired. */
  send(request: TransportRequest): Promise<TransportResponse>;
}
