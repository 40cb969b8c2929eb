import type { Model } from '../../src/catalog/model.ts';
import { ChatSession } from '../../src/chat/session/session.ts';
import type { SessionDeps } from '../../src/chat/session/session-deps.ts';
import type { ChatTool, RequiredConfirmation, ToolInput, ToolOutcome } from '../../src/chat/tools/tools.ts';
import type { ModelLabel, Patch } from '../../src/chat/transcript.ts';
import { converse } from '../../src/provider/converse.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { type Script, streamFrames } from '../upstream/answers.ts';
import type { Responder, Upstream } from '../upstream/upstream.ts';

export const LABEL: ModelLabel = { ref: 'up/large', name: 'Large', provider: 'up', simulated: false };

/** A model at a simulated provider. */
export function modelAt(upstream: Pick<Upstream, 'url'>, more: Partial<Model> = {}): Model {
  return {
    ref: 'up/large',
    provider: 'up',
    key: 'large',
    id: 'large',
    name: 'Large',
    toolCall: true,
    reasoning: true,
    temperature: true,
    attachment: true,
    structuredOutput: false,
    modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
    limit: { context: 0, output: 0 },
    options: {},
    variants: new Map(),
    endpoint: {
      kind: 'openai-compatible',
      format: 'chat-completions',
      baseURL: `${upstream.url}/v1`,
      headers: new Map(),
      timeout: 10_000,
      options: {},
    },
    fim: false,
    source: 'config',
    ...more,
  };
}

/** A session that uses it over HTTP; ids are `1`, `2`, … in the order of creation. */
export function sessionAt(
  upstream: Upstream,
  more: Partial<Model> = {},
  deps: Partial<SessionDeps> = {},
): { readonly session: ChatSession; readonly patches: Patch[] } {
  const transport = undiciTransport();
  const model = modelAt(upstream, more);
  let id = 0;
  const session = new ChatSession({
    model: () => ({ model, label: LABEL }),
    converse: (chosen, conversation, signal, choices) =>
      converse(chosen, conversation, { transport, signal, retry: { limit: 0 }, ...choices }),
    newId: () => String(++id),
    now: () => 1000,
    ...deps,
  });
  const patches: Patch[] = [];
  session.onPatch((patch) => patches.push(patch));
  return { session, patches };
}

interface ToolParts extends Partial<ChatTool> {
  readonly requiredConfirmation?: (input: ToolInput) => RequiredConfirmation | Promise<RequiredConfirmation>;
  readonly run?: (input: ToolInput) => Promise<ToolOutcome>;
}

export function toolNamed(name: string, { requiredConfirmation, run, ...more }: ToolParts = {}): ChatTool {
  return {
    name,
    description: name,
    parameters: { type: 'object' },
    origin: 'Test',
    changes: false,
    prepare: async (input) => ({
      confirmation: (await requiredConfirmation?.(input)) ?? false,
      run: async () => (await run?.(input)) ?? { output: `${name} of ${JSON.stringify(input)}` },
    }),
    ...more,
  };
}

/** The first patch that matches, now or when it comes. */
export function whenPatch(session: ChatSession, matches: (patch: Patch) => boolean): Promise<Patch> {
  return new Promise((resolve) => {
    const following = session.onPatch((patch) => {
      if (!matches(patch)) return;
      following.dispose();
      resolve(patch);
    });
  });
}

/** Answers each request with the next script, the last one from then on. */
export function scripted(...scripts: readonly Script[]): Responder {
  let at = 0;
  return (_request, response) => {
    const script = scripts[Math.min(at, scripts.length - 1)] ?? {};
    at += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      streamFrames('chat', script)
        .map((frame) => `${frame}\n\n`)
        .join(''),
    );
  };
}
