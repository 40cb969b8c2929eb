/** One request to an upstream. */
export interface TransportRequest {
  readonly method: 'GET' | 'OPTIONS' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Fires: the socket is closed at once, whatever has come so far. */
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
 * How bytes get to an upstream: fetch in the editor (it goes through the person's proxy and
 * certificates), undici in the terminal and the gateway (several times less work a request).
 */
export interface Transport {
  /** @throws SvcError network_error when nobody answered, or the signal's reason when it fired. */
  send(request: TransportRequest): Promise<TransportResponse>;
}
