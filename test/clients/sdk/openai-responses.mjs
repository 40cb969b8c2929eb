import OpenAI from 'openai';
import { execute, SVC_KEY, SVC_MODEL, SVC_PROMPT, SVC_URL, TOOLS } from './tools.mjs';

const client = new OpenAI({ baseURL: `${SVC_URL}/v1`, apiKey: SVC_KEY });
const tools = TOOLS.map(({ name, description, parameters }) => ({
  type: 'function',
  name,
  description,
  parameters,
  strict: true,
}));
const input = [{ role: 'user', content: SVC_PROMPT }];
const request = {
  model: SVC_MODEL,
  instructions: 'You edit files.',
  input,
  tools,
  store: false,
  reasoning: { effort: 'medium', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
};
for (;;) {
  const answer = await respond();
  input.push(...answer.output);
  const calls = answer.output.filter((item) => item.type === 'function_call');
  for (const { call_id, name, arguments: text } of calls) {
    input.push({ type: 'function_call_output', call_id, output: execute(name, JSON.parse(text)) });
  }
  if (calls.length === 0) {
    console.log(
      answer.output
        .flatMap((item) => item.content ?? [])
        .map(({ text }) => text)
        .join(''),
    );
    break;
  }
}

async function respond() {
  if (process.env.SVC_STREAM !== '1') return client.responses.create(request);
  const stream = await client.responses.create({ ...request, stream: true });
  for await (const event of stream) if (event.type === 'response.completed') return event.response;
  throw new Error('The stream has no end.');
}
