export interface ErrorAnswer {
  readonly error: { readonly message: string; readonly type: string; readonly param: string | null };
  readonly error_type: string;
  readonly message: string;
  readonly type?: string;
}

/** A body that Chat Completions and Messages both take. */
export const chatRequest = (model: string, over: Record<string, unknown> = {}) => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hi' }],
  ...over,
});

export const readError = async (response: Response) => (await response.json()) as ErrorAnswer;
