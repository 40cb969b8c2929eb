import * as vscode from 'vscode';
import { outputCap, outputTokens } from '../../catalog/limits.ts';
import type { Model } from '../../catalog/model.ts';
import type { Converse } from '../../chat/session/session-deps.ts';
import { readArguments } from '../../chat/tools/tools.ts';
import { disconnectError } from '../../provider/transport/network-failure.ts';
import type { AssistantPart, Conversation, ImagePart, TextPart, Turn, UserPart } from '../../wire/conversation.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Event } from '../../wire/event.ts';
import { countTokens, TOKENS_AN_IMAGE } from '../../wire/prompt-size.ts';
import { errorText } from '../error-text.ts';
import { isDataPart } from './data-part.ts';
import type { Models } from './editor-models.ts';

const VENDOR = 'svc';

interface LanguageModelDeps {
  readonly models: () => readonly Model[];
  readonly onDidChange: vscode.Event<void>;
  readonly converse: Converse;
  readonly outputCap?: number;
  /** Display name of a model's provider. */
  readonly providerName: (model: Model) => string;
}

/** Offers the user's models to VS Code's own chat and to all extensions that use language models. */
export function registerLanguageModels(models: Models, converse: Converse): vscode.Disposable {
  const provider = new LanguageModels({
    models: () => [...(models.registry?.models.values() ?? [])],
    onDidChange: models.onDidChange,
    converse,
    outputCap: outputCap(process.env).cap,
    providerName: ({ provider }) => models.providerName(provider),
  });
  return vscode.lm.registerLanguageModelChatProvider(VENDOR, provider);
}

class LanguageModels implements vscode.LanguageModelChatProvider {
  readonly #deps: LanguageModelDeps;
  readonly onDidChangeLanguageModelChatInformation: vscode.Event<void>;

  constructor(deps: LanguageModelDeps) {
    this.#deps = deps;
    this.onDidChangeLanguageModelChatInformation = deps.onDidChange;
  }

  provideLanguageModelChatInformation(): vscode.LanguageModelChatInformation[] {
    return this.#deps
      .models()
      .filter(({ endpoint, modalities }) => endpoint.problem === undefined && modalities.output.includes('text'))
      .map((model) => this.#information(model));
  }

  async provideLanguageModelChatResponse(
    information: vscode.LanguageModelChatInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const model = this.#deps.models().find(({ ref }) => ref === information.id);
    if (!model) throw vscode.LanguageModelError.NotFound(vscode.l10n.t('There is no model {0}.', information.id));
    const stopping = new AbortController();
    const cancellation = token.onCancellationRequested(() => stopping.abort());
    const calls = new ToolCalls((part) => progress.report(part));
    let complete = false;
    try {
      for await (const event of this.#deps.converse(
        model,
        toConversation(model, messages, options),
        stopping.signal,
        {},
      )) {
        if (event.type === 'error' && !token.isCancellationRequested) throw languageModelError(event.error);
        if (event.type === 'text') progress.report(new vscode.LanguageModelTextPart(event.text));
        if (event.type === 'refusal') progress.report(new vscode.LanguageModelTextPart(event.text));
        if (event.type === 'finish') complete = event.reason !== 'closed' && event.reason !== 'other';
        if (event.type !== 'finish' || complete) calls.take(event);
      }
      // Report an incomplete answer as an error.
      if (!complete && !token.isCancellationRequested) throw languageModelError(disconnectError(undefined));
    } finally {
      cancellation.dispose();
      stopping.abort();
    }
  }

  async provideTokenCount(
    _model: vscode.LanguageModelChatInformation,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    if (typeof text === 'string') return countTokens(text);
    return text.content.reduce<number>((sum, part) => sum + partTokens(part), 0);
  }

  #information(model: Model): vscode.LanguageModelChatInformation {
    const { context, input } = model.limit;
    const maxOutputTokens = outputTokens(model, this.#deps.outputCap);
    // VS Code requires a number. If it is unknown, use a large one, so that nothing is cut off unnecessarily.
    const maxInputTokens = input ?? (context > maxOutputTokens ? context - maxOutputTokens : context || 128_000);
    const provider = this.#deps.providerName(model);
    return {
      id: model.ref,
      name: model.name,
      family: model.id,
      version: model.releaseDate ?? '1',
      detail: provider,
      tooltip: `${model.name} (${provider})`,
      maxInputTokens,
      maxOutputTokens,
      capabilities: { toolCalling: model.toolCall, imageInput: model.modalities.input.includes('image') },
    };
  }
}

/** Collects the pieces of tool calls, because VS Code accepts only complete calls. */
class ToolCalls {
  readonly #report: (part: vscode.LanguageModelToolCallPart) => void;
  readonly #open = new Map<number, { id: string; name: string; json: string }>();

  constructor(report: (part: vscode.LanguageModelToolCallPart) => void) {
    this.#report = report;
  }

  take(event: Event): void {
    if (event.type === 'tool-call') this.#open.set(event.part, { id: event.id, name: event.name, json: '' });
    if (event.type === 'tool-arguments') {
      const call = this.#open.get(event.part);
      if (call) call.json += event.json;
    }
    if (event.type === 'discard') this.#open.delete(event.call);
    if (event.type !== 'finish') return;
    for (const { id, name, json } of this.#open.values()) {
      const input = readArguments(json);
      // A call that was cut off by the output limit must not run with incomplete arguments.
      if (!input) throw new Error(vscode.l10n.t('The call of {0} was cut off.', name));
      this.#report(new vscode.LanguageModelToolCallPart(id, name, input));
    }
    this.#open.clear();
  }
}

/** Converts a VS Code request to a conversation. */
function toConversation(
  model: Model,
  messages: readonly vscode.LanguageModelChatRequestMessage[],
  options: Pick<vscode.ProvideLanguageModelChatResponseOptions, 'tools' | 'toolMode' | 'modelOptions'>,
): Conversation {
  const tools = (options.tools ?? []).map(({ name, description, inputSchema }) => ({
    name,
    description,
    parameters: { type: 'object', ...inputSchema },
  }));
  const required = options.toolMode === vscode.LanguageModelChatToolMode.Required;
  const temperature: unknown = options.modelOptions?.temperature;
  return {
    model: model.id,
    system: [],
    turns: messages.flatMap(toTurns),
    tools,
    ...(tools.length === 0 ? {} : { toolChoice: { type: required ? 'required' : 'auto' } }),
    sampling: typeof temperature === 'number' ? { temperature } : {},
    stream: true,
  };
}

function toTurns({ role, content }: vscode.LanguageModelChatRequestMessage): Turn[] {
  if (role === vscode.LanguageModelChatMessageRole.Assistant) {
    const parts = content.flatMap(assistantPart);
    return parts.length === 0 ? [] : [{ role: 'assistant', parts }];
  }
  const parts = content.flatMap(userPart);
  return parts.length === 0 ? [] : [{ role: 'user', parts }];
}

function assistantPart(part: unknown): AssistantPart[] {
  if (part instanceof vscode.LanguageModelTextPart)
    return part.value === '' ? [] : [{ type: 'text', text: part.value }];
  if (!(part instanceof vscode.LanguageModelToolCallPart)) return [];
  return [{ type: 'tool-call', id: part.callId, name: part.name, arguments: JSON.stringify(part.input) }];
}

function userPart(part: unknown): UserPart[] {
  if (!(part instanceof vscode.LanguageModelToolResultPart)) return contentPart(part);
  return [{ type: 'tool-result', id: part.callId, content: part.content.flatMap(contentPart) }];
}

function contentPart(part: unknown): (TextPart | ImagePart)[] {
  if (part instanceof vscode.LanguageModelTextPart)
    return part.value === '' ? [] : [{ type: 'text', text: part.value }];
  if (part instanceof vscode.LanguageModelPromptTsxPart) return [{ type: 'text', text: JSON.stringify(part.value) }];
  if (!isDataPart(part)) return [];
  const { mimeType, data } = part;
  if (mimeType.startsWith('image/')) {
    const media = { kind: 'data' as const, mediaType: mimeType, base64: Buffer.from(data).toString('base64') };
    return [{ type: 'image', media }];
  }
  // VS Code also sends its own markers, such as cache control, which are not for the model.
  const readable = /^(?:text\/|application\/json)/.test(mimeType);
  return readable ? [{ type: 'text', text: Buffer.from(data).toString('utf8') }] : [];
}

function partTokens(part: unknown): number {
  if (part instanceof vscode.LanguageModelTextPart) return countTokens(part.value);
  if (part instanceof vscode.LanguageModelToolCallPart) return countTokens(JSON.stringify(part.input)) + 10;
  if (part instanceof vscode.LanguageModelToolResultPart) {
    return part.content.reduce<number>((sum, each) => sum + partTokens(each), 10);
  }
  return isDataPart(part) && part.mimeType.startsWith('image/') ? TOKENS_AN_IMAGE : 0;
}

/** Maps errors to the types that other extensions can distinguish. */
function languageModelError(error: SvcError): Error {
  switch (error.errorType) {
    case 'model_not_found':
      return vscode.LanguageModelError.NotFound(errorText(error));
    case 'authentication_required':
    case 'model_not_allowed':
    case 'credential_withheld':
      return vscode.LanguageModelError.NoPermissions(errorText(error));
    case 'rate_limit_exceeded':
    case 'usage_limit_exceeded':
    case 'insufficient_credits':
    case 'content_filtered':
      return vscode.LanguageModelError.Blocked(errorText(error));
    default:
      return new Error(errorText(error), { cause: error });
  }
}
