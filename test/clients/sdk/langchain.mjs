import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { SVC_KEY, SVC_MODEL, SVC_PROMPT, SVC_URL, TOOLS } from './tools.mjs';

const configuration = { baseURL: `${SVC_URL}/v1` };
const models = {
  openai: () => new ChatOpenAI({ model: SVC_MODEL, apiKey: SVC_KEY, configuration }),
  'openai-responses': () => new ChatOpenAI({ model: SVC_MODEL, apiKey: SVC_KEY, configuration, useResponsesApi: true }),
  anthropic: () => new ChatAnthropic({ model: SVC_MODEL, apiKey: SVC_KEY, anthropicApiUrl: SVC_URL }),
};
const agent = createAgent({
  model: models[process.env.SVC_API](),
  systemPrompt: 'You edit files.',
  tools: TOOLS.map(({ name, description, parameters, execute }) =>
    tool(execute, { name, description, schema: parameters }),
  ),
});
const input = { messages: [{ role: 'user', content: SVC_PROMPT }] };
if (process.env.SVC_STREAM === '1') {
  for await (const [message] of await agent.stream(input, { streamMode: 'messages' }))
    process.stdout.write(message.text);
} else {
  const { messages } = await agent.invoke(input);
  console.log(messages.at(-1).text);
}
