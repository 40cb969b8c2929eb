import { createAnthropic } from '@ai-sdk/anthropic';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { SVC_KEY, SVC_MODEL, SVC_PROMPT, SVC_URL, TOOLS } from './tools.mjs';

const options = { baseURL: `${SVC_URL}/v1`, apiKey: SVC_KEY };
const models = {
  openai: () => createOpenAI(options)(SVC_MODEL),
  'openai-chat': () => createOpenAI(options).chat(SVC_MODEL),
  anthropic: () => createAnthropic(options)(SVC_MODEL),
  mistral: () => createMistral(options)(SVC_MODEL),
  'openai-compatible': () => createOpenAICompatible({ name: 'svc', ...options })(SVC_MODEL),
};
const tools = TOOLS.map(({ name, description, parameters, execute }) => [
  name,
  tool({ description, inputSchema: jsonSchema(parameters), execute }),
]);
const request = {
  model: models[process.env.SVC_API](),
  system: 'You edit files.',
  prompt: SVC_PROMPT,
  tools: Object.fromEntries(tools),
  stopWhen: stepCountIs(10),
};
if (process.env.SVC_STREAM === '1') {
  const errors = [];
  const result = streamText({ ...request, onError: ({ error }) => void errors.push(error) });
  for await (const text of result.textStream) process.stdout.write(text);
  if (errors.length > 0) throw errors[0];
} else {
  console.log((await generateText(request)).text);
}
