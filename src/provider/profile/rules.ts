import type { Endpoint, Model } from '../../catalog/model.ts';
import type { SchemaRules } from '../../wire/tools/clean-schema.ts';
import type { IdRule } from '../../wire/tools/tool-call-repair.ts';

export interface ReasoningHistory {
  /** The text: with each message, only with tool calls, or with none. */
  readonly text: 'kept' | 'with-calls' | 'none';
  /** `reasoning_details`: of its own reasoning, also that of Messages and Responses, or none. */
  readonly details: 'own' | 'any' | 'none';
  /** Each tool call needs a text while the model reasons. It may be empty. */
  readonly demanded: boolean;
}

/** The rules of a model's upstream: accepted, refused and demanded parts of a request. */
export interface Rules {
  /** The ids of tool calls. Absent: any. */
  readonly ids?: IdRule;
  /** Arguments of calls in the history: `object`, because the server parses them, or any text. */
  readonly callArguments: 'any' | 'object';
  /** Keywords of tool schemas. */
  readonly schema: SchemaRules;
  /** Reasoning of the history that this provider issued or that has no issuer. Other reasoning is left out. */
  readonly reasoningHistory: ReasoningHistory;
  /** Tool calls of the history carry Gemini's thought signatures; the first of a turn needs one. */
  readonly thoughtSignatures: 'none' | 'kept' | 'required';
  readonly systemMessages: 'anywhere' | 'first' | 'first-not-after-results';
  /** `refused`: an assistant message is put between the results of tools and a user message. */
  readonly userAfterResults: 'accepted' | 'refused';
  /** `refused`: blank texts and messages without content are left out. */
  readonly blankText: 'kept' | 'refused';
  /** `user`: a conversation that begins with the assistant gets a user message before it. */
  readonly opening: 'any' | 'user';
  /** `alternating`: messages of one role in a row are joined. */
  readonly roles: 'any' | 'alternating';
  /** `refused`: a conversation that ends with the assistant gets a user message that asks to continue. */
  readonly prefill: 'kept' | 'refused';
  /** Marks of the prompt cache in Chat Completions. `removed`: only from translated requests. `refused`: always. */
  readonly cacheMarks: 'kept' | 'removed' | 'refused';
  /** Custom tools and a choice between some of the tools. */
  readonly customTools: boolean;
  /** Reasoning efforts of the models, from lowest to highest, if the catalog does not list them. */
  readonly efforts?: readonly string[];
  /** The field for the reasoning effort. */
  readonly reasoningField: 'reasoning_effort' | 'reasoning' | 'none';
  /** `without-reasoning`: temperature, `top_p` and log probabilities are refused while the model reasons. */
  readonly sampling: 'always' | 'without-reasoning';
  /** Fields of the body that are refused. Removed. */
  readonly refused: readonly string[];
  /** Members of messages that are refused. Removed. */
  readonly refusedInMessages: readonly string[];
  /** Members of function definitions that are refused. Removed. */
  readonly refusedInTools: readonly string[];
  /** Fields with another name. */
  readonly renamed: Readonly<Record<string, string>>;
  /** Fields that are only accepted together with another one. */
  readonly needs: Readonly<Record<string, string>>;
  /** Fields with a `null` value are refused. */
  readonly nulls: 'kept' | 'refused';
  /** The word for a tool choice that demands a call. */
  readonly requiredChoice: 'required' | 'any' | 'auto';
  /** A tool choice that demands a call is refused while the model reasons. */
  readonly forcedChoice: 'accepted' | 'without-reasoning';
  /** Thinking in Messages: with a budget, adaptive with an effort, or as the client requests it. */
  readonly thinking: 'any' | 'budget' | 'adaptive';
  /**
   * How thinking is turned off in Messages. `up-to-high`: only with an effort of `high` or less. `between-tools`: by that
   * type. `lowest-effort`: it can't be, and the lowest effort takes its place.
   */
  readonly thinkingOff: 'disabled' | 'up-to-high' | 'between-tools' | 'lowest-effort';
  /** What the model writes between calls of tools. `thinking`: it is sent as thinking, and only on request. */
  readonly narration: 'text' | 'thinking';
  /** `refused`: marks of the prompt cache have no `ttl`. */
  readonly cacheLifetimes: 'kept' | 'refused';
  /** `session`: the name of the client's session is the key of the prompt cache, unless the client sends a key. */
  readonly cacheKey: 'client' | 'session';
  /** Maximum number of stop sequences. */
  readonly stops?: number;
  /** Claude Code's line for Anthropic's servers, which differs in each request. */
  readonly attribution: 'kept' | 'removed';
  /** Blocks of tools that ran at Anthropic, in a request that is forwarded: kept, or as text. */
  readonly serverTools: 'kept' | 'text';
  /** Types of images. Absent: any. */
  readonly images?: readonly string[];
  /**
   * Reasoning in tags at the start of an answer's text. `split`: also in answers that are forwarded in their own format.
   * `translated`: only if the answer is converted anyway. `channels`: as `split`, and
   * the channels of gpt-oss may be without special tokens. `starts-inside`: as `split`, and the opening tag may be
   * missing.
   */
  readonly reasoningTags: 'none' | 'translated' | 'split' | 'channels' | 'starts-inside';
  /** Calls that a model writes into the text of its answer become calls. */
  readonly toolCallsInText: boolean;
}

/** One rule of a vendor. `says` has the text of the documentation, `source` a page or a thread that shows it. */
export interface Row {
  readonly rule: keyof Rules;
  readonly value: Partial<Rules>;
  readonly says: string;
  readonly source: string;
}

/** Identifies the vendor and the family of a model. */
export interface ModelIdentity {
  readonly endpoint: Pick<Endpoint, 'kind' | 'format' | 'baseURL'>;
  readonly id: string;
  readonly provider: string;
}

/** The rules of one vendor or family. A later profile overrides the rows of an earlier one. */
export interface Profile {
  readonly name: string;
  readonly covers: (model: ModelIdentity) => boolean;
  readonly rows: readonly Row[];
}

export function row<K extends keyof Rules>(rule: K, value: NonNullable<Rules[K]>, says: string, source: string): Row {
  return { rule, value: { [rule]: value }, says, source };
}

/** Whether the provider has the id, or its address the host or a subdomain of it. */
export function servedBy(
  { endpoint, provider }: Pick<Model, 'provider'> & { readonly endpoint: Pick<Endpoint, 'baseURL'> },
  ids: readonly string[],
  hosts: readonly string[],
): boolean {
  if (ids.includes(provider)) return true;
  const { baseURL } = endpoint;
  if (baseURL === undefined || !URL.canParse(baseURL)) return false;
  const { hostname } = new URL(baseURL);
  return hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
}
