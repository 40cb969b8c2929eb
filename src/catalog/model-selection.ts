import { nearMisses } from '../base/near-miss.ts';
import { upToFirst } from '../base/text.ts';
import type { Located } from '../config/settings/origin.ts';
import type { Settings } from '../config/settings/settings.ts';
import { type MessageText, msg, SvcError } from '../wire/errors/svc-error.ts';
import { MAX_MATCHED_ID } from './address.ts';
import { providersToList } from './live-registry.ts';
import type { Model } from './model.ts';
import type { Registry } from './registry/registry.ts';
import { VENDOR_ORIGINS } from './vendors.ts';

export type SelectedFrom = 'flag' | 'config' | 'last-used' | 'priority';

export interface Selection {
  /** Absent: no model is available. */
  readonly model?: Model;
  readonly from?: SelectedFrom;
  /** Problems of the configured model. */
  readonly warnings: readonly SvcError[];
}

export interface SelectionRequest {
  /** `--model`. */
  readonly flag?: string | undefined;
  readonly settings: Settings;
  /** Model references, latest first. */
  readonly lastUsed?: readonly string[];
  readonly registry: Registry;
  /** For an unknown configured model: `error` throws (terminal, gateway), `warn` tries the next rule (editor). */
  readonly unknownConfigured?: 'error' | 'warn';
}

/** The order of preference. A model's rank is the first pattern that its id matches. */
interface Priority {
  readonly patterns: readonly RegExp[];
  /** Models that match one of this number of patterns are made for the task. They are preferred in all providers. */
  readonly suited: number;
  /** Models that are last among those of equal providers, also if they match a pattern. */
  readonly last?: RegExp;
}

const CHAT_PATTERNS: readonly RegExp[] = [
  /claude-(sonnet|fable)/,
  /claude-opus/,
  /gpt-(?!.*(mini|nano|image|realtime|audio|oss|3\.5|chat))[5-9]/,
  /gemini-[\d.]+-pro/,
  /devstral|mistral-(large|medium)/,
  /qwen.*coder|kimi|glm-|deepseek/,
  /claude|gpt-[4-9]|gemini|mistral/,
  // Any model that is not made for another task.
  /^(?!.*(codestral|mercury-edit|embed|transcri|whisper|tts|rerank|moderation|ocr))/,
];

const FIM_PATTERNS: readonly RegExp[] = [
  /codestral/,
  /mercury-(edit|coder)/,
  /mercury/,
  /qwen.*coder|codeqwen/,
  /deepseek/,
  /mellum|seed-?coder/,
  /starcoder|codegemma|codellama/,
  // Other models that are named for code, such as granite-code, stable-code and yi-coder.
  /code/,
  // Any model that is not made for another task.
  /^(?!.*(embed|transcri|whisper|tts|rerank|moderation|ocr|guard|instruct|chat|vision|-vl))/,
  /^(?!.*(embed|transcri|whisper|tts|rerank|moderation|ocr|guard))/,
];

/** The largest first: they predict best. */
const EDIT_PATTERNS: readonly RegExp[] = [/mercury-edit/, /sweep-next-edit-v2/, /zeta-?2/, /sweep/, /zeta/, /./];

/** They continue code and answer nothing: base models, such as `qwen2.5-coder:1.5b-base`. */
const BASE_MODELS = /^(?!.*(?:instruct|chat)).*(?:[-_:.]base(?:[-_:.]|$)|starcoder)/;

const CHAT_PRIORITY: Priority = { patterns: CHAT_PATTERNS, suited: CHAT_PATTERNS.length, last: BASE_MODELS };
/** The last two patterns are not code models: their completions may be slow or poor. */
const FIM_PRIORITY: Priority = { patterns: FIM_PATTERNS, suited: FIM_PATTERNS.length - 2 };

const EDIT_PRIORITY: Priority = { patterns: EDIT_PATTERNS, suited: EDIT_PATTERNS.length };

/**
 * Selects the model for chat in the order of the specification: flag, configuration, last used, first by priority.
 *
 * @throws SvcError 400 model_not_found for an unknown flag, and for an unknown configured model if `unknownConfigured`
 * is `error`.
 */
export function selectModel(question: SelectionRequest): Selection {
  return select(question, question.settings.model, CHAT_PRIORITY, () => true);
}

/** Selects the model for code completion from the models that support it. @throws like `selectModel`. */
export function selectCompletionModel(question: SelectionRequest): Selection {
  return select(question, question.settings.completionModel, FIM_PRIORITY, (model) => model.fim);
}

/** Selects the model for next edits from those that have a format for them. @throws like `selectModel`. */
export function selectEditModel(question: SelectionRequest): Selection {
  return select(question, question.settings.nextEditModel, EDIT_PRIORITY, (model) => model.edit !== undefined);
}

function select(
  question: SelectionRequest,
  configured: Located<string> | undefined,
  priority: Priority,
  suits: (model: Model) => boolean,
): Selection {
  const { flag, registry, lastUsed = [] } = question;
  if (flag !== undefined) return { model: demanded(flag, registry, suits), from: 'flag', warnings: [] };
  const warnings: SvcError[] = [];
  if (configured !== undefined) {
    const model = registry.find(configured.value);
    if (model !== undefined && suits(model)) return { model, from: 'config', warnings };
    const shown = configured.reference ? 'that a reference names' : configured.value;
    const error = unknownModel(shown, registry, suits, model, ` (${describePlace(configured)})`);
    if (question.unknownConfigured === 'error') throw error;
    warnings.push(error);
  }
  for (const ref of lastUsed) {
    const model = registry.find(ref);
    if (model === undefined || question.settings.namedOnly?.has(model.provider)) continue;
    if (suits(model) && model.endpoint.problem === undefined) return { model, from: 'last-used', warnings };
  }
  const model = firstByPriority(question, priority, suits);
  return model === undefined ? { warnings } : { model, from: 'priority', warnings };
}

/**
 * The providers whose model lists can change the result of a selection. Read their lists before it: an automatic choice
 * must not go to another provider only because a list is not there yet. A provider that is used only when it is named is
 * asked only when it is named.
 */
export function providersToListBefore(question: SelectionRequest, configured: string | undefined): ReadonlySet<string> {
  const { flag, settings, registry, lastUsed = [] } = question;
  const unlisted = new Set(providersToList(registry).map(({ id }) => id));
  const automatic = new Set([...unlisted].filter((id) => !settings.namedOnly?.has(id)));
  const wanted = flag ?? configured;
  if (wanted !== undefined) {
    if (registry.find(wanted) !== undefined) return NONE;
    const named = providerOf(wanted);
    return unlisted.has(named) ? new Set([named]) : automatic;
  }
  const usable = lastUsed.filter((ref) => !settings.namedOnly?.has(providerOf(ref)));
  const last = usable.find((ref) => registry.find(ref) !== undefined || automatic.has(providerOf(ref)));
  return last !== undefined && registry.find(last) !== undefined ? NONE : automatic;
}

const NONE: ReadonlySet<string> = new Set();

function providerOf(ref: string): string {
  return upToFirst(ref, ['/']);
}

/** Whether a model is made for code. The completions of others may be slow or poor. */
export function isCodeModel(model: Model): boolean {
  return priorityRank(model, FIM_PRIORITY) < FIM_PRIORITY.suited;
}

function priorityRank({ id }: Model, { patterns, last }: Priority): number {
  const name = id.slice(0, MAX_MATCHED_ID).toLowerCase();
  const index = patterns.findIndex((pattern) => pattern.test(name));
  if (index === -1) return patterns.length;
  // Between the last pattern and no pattern: it is still preferred as a model that is made for the task.
  return last?.test(name) ? patterns.length - 0.5 : index;
}

function describePlace({ origin }: Located<string>): string {
  return `${origin.source.path}, line ${origin.line}`;
}

function demanded(ref: string, registry: Registry, suits: (model: Model) => boolean): Model {
  const model = registry.find(ref);
  if (model !== undefined && suits(model)) return model;
  throw unknownModel(ref, registry, suits, model, '');
}

function unknownModel(
  ref: string,
  registry: Registry,
  suits: (model: Model) => boolean,
  found: Model | undefined,
  where: string,
): SvcError {
  const near = suggestModels(ref, registry, suits);
  return new SvcError({
    errorType: 'model_not_found',
    message: unavailableMessage(ref, found, where, near.join(' or ')),
    action: msg('Run `svc models` for those that are available.'),
    param: 'model',
  });
}

function unavailableMessage(ref: string, found: Model | undefined, where: string, near: string): MessageText {
  if (found !== undefined) {
    return near === ''
      ? msg('{0} cannot be used for this.', `${ref}${where}`)
      : msg('{0} cannot be used for this. Did you mean {1}?', `${ref}${where}`, near);
  }
  if (ref === '') return msg('No model is specified. Use the form <provider_id>/<model_id>{0}.', where);
  return near === ''
    ? msg('There is no model {0}.', `${ref}${where}`)
    : msg('There is no model {0}. Did you mean {1}?', `${ref}${where}`, near);
}

/** Up to three available references that are similar to `ref`. */
function suggestModels(ref: string, registry: Registry, suits: (model: Model) => boolean = () => true): string[] {
  const refs = [...registry.models.values()].filter(suits).map((model) => model.ref);
  const found = nearMisses(ref, refs, 3);
  if (found.length > 0) return found;
  const key = ref.slice(ref.indexOf('/') + 1);
  const byKey = nearMisses(
    key,
    refs.map((each) => each.slice(each.indexOf('/') + 1)),
    3,
  );
  return refs.filter((each) => byKey.includes(each.slice(each.indexOf('/') + 1))).slice(0, 3);
}

/** Whether a model is at the address of a vendor, which needs a key, and there is none. */
function lacksKey({ endpoint: { apiKey, headers, options, baseURL = '' } }: Model): boolean {
  if (apiKey !== undefined || options.authToken !== undefined) return false;
  if ([...headers.keys()].some((name) => /auth|key|token/i.test(name))) return false;
  return URL.canParse(baseURL) && VENDOR_ORIGINS.has(new URL(baseURL).origin);
}

/**
 * The order of preference: providers with the key that their vendor needs before those without it, real providers
 * before simulated ones, the user's before a project's, models that are made for the task before others, configured
 * providers before those that only have a key, then the priority list, then the newest, then by name.
 */
function firstByPriority(
  { registry, settings }: SelectionRequest,
  priority: Priority,
  suits: (model: Model) => boolean,
): Model | undefined {
  const candidates = [...registry.models.values()].filter(
    (model) =>
      suits(model) &&
      model.endpoint.problem === undefined &&
      model.modalities.output.includes('text') &&
      !settings.namedOnly?.has(model.provider),
  );
  const keyed = candidates.map((model) => {
    const provider = registry.providers.get(model.provider);
    const foreign = (settings.providers.get(model.provider)?.trust ?? 'trusted') !== 'trusted';
    const ranked = priorityRank(model, priority);
    const unsuited = ranked >= priority.suited ? 2 : 0;
    const weight =
      (lacksKey(model) ? 16 : 0) +
      (provider?.simulated ? 8 : 0) +
      (foreign ? 4 : 0) +
      unsuited +
      (provider?.source === 'config' ? 0 : 1);
    return { model, weight, rank: ranked, date: model.releaseDate ?? '' };
  });
  keyed.sort(
    (a, b) =>
      a.weight - b.weight ||
      a.rank - b.rank ||
      (a.date < b.date ? 1 : a.date > b.date ? -1 : 0) ||
      (a.model.ref < b.model.ref ? -1 : 1),
  );
  return keyed[0]?.model;
}

/** Stores the recently used models. Each front end has its own store. */
export interface LastUsedStore {
  /** Model references, latest first; empty if the store can't be read. */
  read(): Promise<readonly string[]>;
  write(ref: string): Promise<void>;
}
