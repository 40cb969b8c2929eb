import { Mistral } from '@mistralai/mistralai';
import { execute, SVC_KEY, SVC_MODEL, SVC_PROMPT, SVC_URL, TOOLS } from './tools.mjs';

const client = new Mistral({ serverURL: SVC_URL, apiKey: SVC_KEY });
const tools = TOOLS.map(({ name, description, parameters }) => ({
  type: 'function',
  function: { name, description, parameters },
}));
const messages = [
  { role: 'system', content: 'You edit files.' },
  { role: 'user', content: SVC_PROMPT },
];
for (;;) {
  const answer = await respond();
  messages.push({ role: 'assistant', ...answer });
  if (answer.toolCalls.length === 0) {
    console.log(answer.content);
    break;
  }
  for (const { id, function: called } of answer.toolCalls) {
    const input = typeof called.arguments === 'string' ? JSON.parse(called.arguments) : called.arguments;
    messages.push({ role: 'tool', toolCallId: id, name: called.name, content: execute(called.name, input) });
  }
}

async function respond() {
  const request = { model: SVC_MODEL, messages, tools };
  if (process.env.SVC_STREAM !== '1') {
    const { content, toolCalls } = (await client.chat.complete(request)).choices[0].message;
    return { content: content ?? '', toolCalls: toolCalls ?? [] };
  }
  let content = '';
  const calls = new Map();
  for await (const { data } of await client.chat.stream(request)) {
    const { delta } = data.choices[0] ?? { delta: {} };
    if (typeof delta.content === 'string') content += delta.content;
    for (const { index, id, function: called } of delta.toolCalls ?? []) {
      const call = calls.get(index) ?? { id, function: { name: called.name, arguments: '' } };
      call.function.arguments += called.arguments;
      calls.set(index, call);
    }
  }
  return { content, toolCalls: [...calls.values()] };
}
