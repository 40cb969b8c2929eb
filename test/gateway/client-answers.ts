import assert from 'node:assert/strict';
import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty, parseJson } from '../../src/base/json.ts';

export type Client = 'messages' | 'responses' | 'chat';

/** The messages or items of an answer with the results of its calls. */
export function readWhole(client: Client, answer: JsonObject, result: (id: string) => unknown = () => 'r'): unknown[] {
  if (client === 'messages') {
    const content = arrayOrEmpty(answer.content);
    const calls = content.map(objectOrEmpty).filter(({ type }) => type === 'tool_use');
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: result(String(id)) }));
    return [{ role: 'assistant', content }, ...(results.length > 0 ? [{ role: 'user', content: results }] : [])];
  }
  if (client === 'responses') {
    const output = arrayOrEmpty(answer.output);
    const calls = output.map(objectOrEmpty).filter(({ type }) => type === 'function_call');
    return [
      ...output,
      ...calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: result(String(call_id)) })),
    ];
  }
  const message = objectOrEmpty(objectOrEmpty(arrayOrEmpty(answer.choices)[0]).message);
  return [message, ...toolMessages(message, result)];
}

function toolMessages(message: JsonObject, result: (id: string) => unknown): unknown[] {
  return arrayOrEmpty(message.tool_calls).map((call) => ({
    role: 'tool',
    tool_call_id: objectOrEmpty(call).id,
    content: result(String(objectOrEmpty(call).id)),
  }));
}

/** Collects a stream as clients do. */
export function readStream(client: Client, text: string, result: (id: string) => unknown = () => 'r'): unknown[] {
  const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => objectOrEmpty(JSON.parse(json)));
  if (client === 'responses') {
    const done = events.find(({ type }) => type === 'response.completed') ?? assert.fail(text);
    return readWhole(client, objectOrEmpty(done.response), result);
  }
  if (client === 'messages') {
    const content: Record<string, unknown>[] = [];
    for (const { type, index, content_block, delta } of events) {
      if (type === 'content_block_start') content.push({ ...objectOrEmpty(content_block) });
      const block = content[Number(index)];
      const { thinking, signature, text, partial_json } = objectOrEmpty(delta);
      if (block === undefined || type !== 'content_block_delta') continue;
      if (typeof thinking === 'string') block.thinking = `${block.thinking}${thinking}`;
      if (typeof signature === 'string') block.signature = `${block.signature}${signature}`;
      if (typeof text === 'string') block.text = `${block.text}${text}`;
      if (typeof partial_json === 'string') block.json = `${block.json ?? ''}${partial_json}`;
    }
    return readWhole(client, { content: readInputs(content) }, result);
  }
  const message: Record<string, unknown> = { role: 'assistant', content: null };
  const calls: Record<string, unknown>[] = [];
  for (const event of events) {
    const { tool_calls, content, reasoning_content, reasoning_details } = objectOrEmpty(
      objectOrEmpty(arrayOrEmpty(event.choices)[0]).delta,
    );
    for (const value of arrayOrEmpty(tool_calls)) {
      const { id, index, ...rest } = objectOrEmpty(value);
      const part = objectOrEmpty(rest.function);
      if (typeof id === 'string') calls[Number(index)] = { id, ...rest, function: { name: part.name, arguments: '' } };
      const definition = calls[Number(index)]?.function;
      if (isObject(definition)) Reflect.set(definition, 'arguments', `${definition.arguments}${part.arguments ?? ''}`);
    }
    if (typeof content === 'string' && content !== '') message.content = `${message.content ?? ''}${content}`;
    if (typeof reasoning_content === 'string')
      message.reasoning_content = `${message.reasoning_content ?? ''}${reasoning_content}`;
    if (Array.isArray(reasoning_details)) message.reasoning_details = reasoning_details;
  }
  if (calls.length > 0) message.tool_calls = calls;
  return [message, ...toolMessages(message, result)];
}

/** The input of a call that was streamed as text. */
function readInputs(content: readonly Record<string, unknown>[]): unknown[] {
  return content.map(({ json, ...block }) =>
    block.type === 'tool_use'
      ? { ...block, input: objectOrEmpty(parseJson(String(json ?? '')) ?? block.input) }
      : block,
  );
}
