/** Answers of a simulated provider in the frames of each wire format, written without the code under test. */

export type Wire = 'chat' | 'responses' | 'messages' | 'fim-mistral' | 'fim-text' | 'infill' | 'ollama';

export interface Script {
  readonly text?: readonly string[];
  readonly reasoning?: readonly string[];
  readonly tools?: readonly ScriptedCall[];
  readonly finish?: 'stop' | 'length' | 'tool' | 'filter';
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number } | null;
  readonly model?: string;
  /** The signature or the encrypted content of the reasoning; `null` for none. */
  readonly seal?: string | null;
  /** Chat Completions: a call is streamed whole in one chunk, as Mistral sends it. */
  readonly wholeCalls?: true;
  /** Makes the ids of the answer and of its items unique: `msg_up<ids>`, `fc_<ids>0`. */
  readonly ids?: string;
}

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: readonly string[];
  /** A call of a custom tool, whose input is text. */
  readonly custom?: true;
  /** The namespace of the tool (Responses). */
  readonly namespace?: string;
}

const json = JSON.stringify;
const CREATED = 1_760_000_000;

function usageOf(script: Script): { input: number; output: number; cached: number } | undefined {
  if (script.usage === null) return undefined;
  const { input = 11, output = 7, cached = 0 } = script.usage ?? {};
  return { input, output, cached };
}

/** Frames of a streamed answer, each a string without its blank line. */
export function streamFrames(wire: Wire, script: Script): string[] {
  switch (wire) {
    case 'chat':
      return chatFrames(script);
    case 'messages':
      return messagesFrames(script);
    case 'responses':
      return responsesFrames(script);
    default:
      return fimFrames(wire, script);
  }
}

const CHAT_FINISH = { stop: 'stop', length: 'length', tool: 'tool_calls', filter: 'content_filter' } as const;

function chatUsage(script: Script): Record<string, unknown> | undefined {
  const usage = usageOf(script);
  return (
    usage && {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cached },
    }
  );
}

function chatFrames(script: Script): string[] {
  const head = {
    id: `chatcmpl-up${script.ids ?? 1}`,
    object: 'chat.completion.chunk',
    created: CREATED,
    model: script.model ?? 'up',
  };
  const chunk = (delta: unknown, finish: string | null = null): string =>
    `data: ${json({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}`;
  const frames = [chunk({ role: 'assistant', content: '' })];
  for (const text of script.reasoning ?? []) frames.push(chunk({ reasoning_content: text }));
  for (const text of script.text ?? []) frames.push(chunk({ content: text }));
  for (const [index, tool] of (script.tools ?? []).entries()) {
    if (script.wholeCalls) {
      frames.push(chunk({ tool_calls: [{ index, ...chatCall(tool, tool.arguments.join('')) }] }));
      continue;
    }
    frames.push(chunk({ tool_calls: [{ index, ...chatCall(tool, '') }] }));
    for (const part of tool.arguments) {
      const delta = tool.custom ? { custom: { input: part } } : { function: { arguments: part } };
      frames.push(chunk({ tool_calls: [{ index, ...delta }] }));
    }
  }
  frames.push(chunk({}, CHAT_FINISH[script.finish ?? (script.tools ? 'tool' : 'stop')]));
  const usage = chatUsage(script);
  if (usage) frames.push(`data: ${json({ ...head, choices: [], usage })}`);
  frames.push('data: [DONE]');
  return frames;
}

function chatCall({ id, name, custom }: ScriptedCall, text: string): Record<string, unknown> {
  if (custom) return { id, type: 'custom', custom: { name, input: text } };
  return { id, type: 'function', function: { name, arguments: text } };
}

const MESSAGES_STOP = { stop: 'end_turn', length: 'max_tokens', tool: 'tool_use', filter: 'refusal' } as const;

function messagesFrames(script: Script): string[] {
  const event = (value: { type: string } & Record<string, unknown>): string =>
    `event: ${value.type}\ndata: ${json(value)}`;
  const usage = usageOf(script);
  const input = usage && { input_tokens: usage.input - usage.cached, cache_read_input_tokens: usage.cached };
  const frames = [
    event({
      type: 'message_start',
      message: {
        id: `msg_up${script.ids ?? 1}`,
        type: 'message',
        role: 'assistant',
        model: script.model ?? 'up',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...(input ?? { input_tokens: 0 }), output_tokens: usage ? 1 : 0 },
      },
    }),
    event({ type: 'ping' }),
  ];
  let index = 0;
  const block = (start: unknown, deltas: readonly unknown[]): void => {
    frames.push(event({ type: 'content_block_start', index, content_block: start }));
    for (const delta of deltas) frames.push(event({ type: 'content_block_delta', index, delta }));
    frames.push(event({ type: 'content_block_stop', index }));
    index++;
  };
  if (script.reasoning) {
    const thoughts = script.reasoning.map((thinking) => ({ type: 'thinking_delta', thinking }));
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...thoughts,
      { type: 'signature_delta', signature: script.seal ?? 'sig-1' },
    ]);
  }
  if (script.text)
    block(
      { type: 'text', text: '' },
      script.text.map((text) => ({ type: 'text_delta', text })),
    );
  for (const tool of script.tools ?? []) {
    const deltas = tool.arguments.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    block({ type: 'tool_use', id: tool.id, name: tool.name, input: {} }, deltas);
  }
  const stop_reason = MESSAGES_STOP[script.finish ?? (script.tools ? 'tool' : 'stop')];
  const delta = { stop_reason, stop_sequence: null };
  frames.push(event({ type: 'message_delta', delta, usage: { output_tokens: usage?.output ?? 0 } }));
  frames.push(event({ type: 'message_stop' }));
  return frames;
}

function responsesItems(script: Script): Record<string, unknown>[] {
  const items: Record<string, unknown>[] = [];
  const { ids = '', seal = 'sealed-1' } = script;
  if (script.reasoning) {
    const text = script.reasoning.join('');
    const summary = text === '' ? [] : [{ type: 'summary_text', text }];
    items.push({ id: `rs_${ids}1`, type: 'reasoning', summary, ...(seal === null ? {} : { encrypted_content: seal }) });
  }
  if (script.text) {
    const content = [{ type: 'output_text', text: script.text.join(''), annotations: [] }];
    items.push({ id: `msg_${ids}1`, type: 'message', role: 'assistant', status: 'completed', content });
  }
  (script.tools ?? []).forEach((tool, index) => {
    const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace };
    const item = { status: 'completed', call_id: tool.id, name: tool.name, ...namespace };
    const text = tool.arguments.join('');
    items.push(
      tool.custom
        ? { id: `ctc_${ids}${index}`, type: 'custom_tool_call', ...item, input: text }
        : { id: `fc_${ids}${index}`, type: 'function_call', ...item, arguments: text },
    );
  });
  return items;
}

function responsesBody(script: Script, status: string, output: readonly unknown[]): Record<string, unknown> {
  const usage = usageOf(script);
  const length = script.finish === 'length';
  const filter = script.finish === 'filter';
  const reason = length ? 'max_output_tokens' : 'content_filter';
  return {
    id: `resp_up${script.ids ?? 1}`,
    object: 'response',
    created_at: CREATED,
    model: script.model ?? 'up',
    status: status === 'completed' && (length || filter) ? 'incomplete' : status,
    incomplete_details: status === 'completed' && (length || filter) ? { reason } : null,
    error: null,
    output,
    usage:
      status === 'in_progress' || !usage
        ? null
        : {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: usage.cached },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: usage.input + usage.output,
          },
  };
}

function responsesFrames(script: Script): string[] {
  let sequence = 0;
  const frames: string[] = [];
  const event = (type: string, value: Record<string, unknown>): void => {
    frames.push(`event: ${type}\ndata: ${json({ type, sequence_number: sequence++, ...value })}`);
  };
  event('response.created', { response: responsesBody(script, 'in_progress', []) });
  event('response.in_progress', { response: responsesBody(script, 'in_progress', []) });
  const items = responsesItems(script);
  items.forEach((item, output_index) => {
    const at = { item_id: item.id, output_index };
    if (item.type === 'reasoning') {
      event('response.output_item.added', { output_index, item: { id: item.id, type: 'reasoning', summary: [] } });
      const text = (script.reasoning ?? []).join('');
      if (text !== '') {
        const part = { ...at, summary_index: 0 };
        event('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } });
        for (const delta of script.reasoning ?? []) event('response.reasoning_summary_text.delta', { ...part, delta });
        event('response.reasoning_summary_text.done', { ...part, text });
        event('response.reasoning_summary_part.done', { ...part, part: { type: 'summary_text', text } });
      }
    } else if (item.type === 'message') {
      const started = { id: item.id, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
      event('response.output_item.added', { output_index, item: started });
      const part = { type: 'output_text', text: '', annotations: [] };
      event('response.content_part.added', { ...at, content_index: 0, part });
      for (const delta of script.text ?? []) event('response.output_text.delta', { ...at, content_index: 0, delta });
      const text = (script.text ?? []).join('');
      event('response.output_text.done', { ...at, content_index: 0, text });
      event('response.content_part.done', { ...at, content_index: 0, part: { ...part, text } });
    } else if (item.type === 'custom_tool_call') {
      event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', input: '' } });
      event('response.custom_tool_call_input.delta', { ...at, delta: item.input });
      event('response.custom_tool_call_input.done', { ...at, input: item.input });
    } else {
      const tool = script.tools?.find((candidate) => candidate.id === item.call_id);
      event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } });
      for (const delta of tool?.arguments ?? []) event('response.function_call_arguments.delta', { ...at, delta });
      event('response.function_call_arguments.done', { ...at, arguments: item.arguments, name: item.name });
    }
    event('response.output_item.done', { output_index, item });
  });
  const body = responsesBody(script, 'completed', items);
  event(body.status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response: body });
  return frames;
}

function fimFrames(wire: Wire, script: Script): string[] {
  const texts = script.text ?? [];
  const finish = script.finish === 'length' ? 'length' : 'stop';
  const usage = usageOf(script);
  if (wire === 'ollama') {
    const head = { model: script.model ?? 'up', created_at: '2026-01-01T00:00:00Z' };
    const lines = texts.map((response) => json({ ...head, response, done: false }));
    const counts = usage ? { prompt_eval_count: usage.input, eval_count: usage.output } : {};
    return [...lines, json({ ...head, response: '', done: true, done_reason: finish, ...counts })];
  }
  if (wire === 'infill') {
    const counts = usage ? { tokens_evaluated: usage.input, tokens_predicted: usage.output } : {};
    const last = { content: '', stop: true, stop_type: finish === 'length' ? 'limit' : 'eos', ...counts };
    return [...texts.map((content) => `data: ${json({ content, stop: false })}`), `data: ${json(last)}`];
  }
  const mistral = wire === 'fim-mistral';
  const object = mistral ? 'fim.completion.chunk' : 'text_completion';
  const head = { id: 'cmpl-up1', object, created: CREATED, model: script.model ?? 'up' };
  const choice = (text: string, reason: string | null): Record<string, unknown> =>
    mistral ? { index: 0, delta: { content: text }, finish_reason: reason } : { index: 0, text, finish_reason: reason };
  const frames = texts.map((text) => `data: ${json({ ...head, choices: [choice(text, null)] })}`);
  const counts = usage ? { usage: chatUsage(script) } : {};
  frames.push(`data: ${json({ ...head, choices: [choice('', finish)], ...counts })}`, 'data: [DONE]');
  return frames;
}

/** The same answer as one JSON body. */
export function wholeBody(wire: Wire, script: Script): Record<string, unknown> {
  const text = (script.text ?? []).join('');
  const finish = script.finish ?? (script.tools ? 'tool' : 'stop');
  const usage = usageOf(script);
  switch (wire) {
    case 'chat': {
      const tool_calls = script.tools?.map((tool) => chatCall(tool, tool.arguments.join('')));
      const reasoning = script.reasoning ? { reasoning_content: script.reasoning.join('') } : {};
      const calls = tool_calls ? { tool_calls } : {};
      const message = { role: 'assistant', content: text === '' && tool_calls ? null : text, ...reasoning, ...calls };
      const choices = [{ index: 0, message, finish_reason: CHAT_FINISH[finish] }];
      const head = {
        id: `chatcmpl-up${script.ids ?? 1}`,
        object: 'chat.completion',
        created: CREATED,
        model: script.model ?? 'up',
      };
      return { ...head, choices, ...(usage ? { usage: chatUsage(script) } : {}) };
    }
    case 'responses':
      return responsesBody(script, 'completed', responsesItems(script));
    case 'messages': {
      const content: unknown[] = [];
      if (script.reasoning) {
        content.push({ type: 'thinking', thinking: script.reasoning.join(''), signature: script.seal ?? 'sig-1' });
      }
      if (script.text) content.push({ type: 'text', text });
      for (const tool of script.tools ?? []) {
        content.push({
          type: 'tool_use',
          id: tool.id,
          name: tool.name,
          input: JSON.parse(tool.arguments.join('') || '{}'),
        });
      }
      const counts = usage && {
        input_tokens: usage.input - usage.cached,
        cache_read_input_tokens: usage.cached,
        output_tokens: usage.output,
      };
      const head = { id: `msg_up${script.ids ?? 1}`, type: 'message', role: 'assistant', model: script.model ?? 'up' };
      return {
        ...head,
        content,
        stop_reason: MESSAGES_STOP[finish],
        stop_sequence: null,
        ...(counts ? { usage: counts } : {}),
      };
    }
    case 'infill':
      return {
        content: text,
        stop: true,
        stop_type: 'eos',
        tokens_evaluated: usage?.input,
        tokens_predicted: usage?.output,
      };
    case 'ollama':
      return {
        response: text,
        done: true,
        done_reason: 'stop',
        prompt_eval_count: usage?.input,
        eval_count: usage?.output,
      };
    case 'fim-mistral': {
      const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
      return { id: 'cmpl-up1', object: 'chat.completion', created: CREATED, choices, usage: chatUsage(script) };
    }
    case 'fim-text': {
      const choices = [{ index: 0, text, finish_reason: 'stop', logprobs: null }];
      return { id: 'cmpl-up1', object: 'text_completion', created: CREATED, choices, usage: chatUsage(script) };
    }
  }
}
