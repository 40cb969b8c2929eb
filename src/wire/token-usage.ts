/** Token counts in OpenAI's form: `input` includes cache reads and writes, `output` includes reasoning. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** The part of `cacheWrite` that is kept for an hour. */
  readonly cacheWrite1h?: number;
  readonly reasoning?: number;
  /** Parts of `input` and `output`. */
  readonly inputAudio?: number;
  readonly outputAudio?: number;
  readonly outputImage?: number;
  /**
   * The service that the provider reports, if it is not the standard: a service tier (`flex`, `priority`, `batch`), a speed
   * (`fast`), a region (`us`).
   */
  readonly served?: readonly string[];
  /** Calls of tools that the vendor ran and bills by call, by name (`web_search`). */
  readonly calls?: Readonly<Record<string, number>>;
  /** The charged cost in USD, if the provider reports it (OpenRouter). */
  readonly cost?: number;
}
