import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { SVC_KEY, SVC_MODEL, SVC_PROMPT, SVC_URL, TOOLS } from './tools.mjs';

setTracingDisabled(true);
const modelProvider = new OpenAIProvider({
  baseURL: `${SVC_URL}/v1`,
  apiKey: SVC_KEY,
  ...(process.env.SVC_API === 'chat' ? { useResponses: false } : {}),
});
const agent = new Agent({
  name: 'editor',
  instructions: 'You edit files.',
  model: SVC_MODEL,
  tools: TOOLS.map(({ name, description, parameters, execute }) => tool({ name, description, parameters, execute })),
});
const stream = process.env.SVC_STREAM === '1';
const result = await new Runner({ modelProvider }).run(agent, SVC_PROMPT, { stream });
if (stream) await result.completed;
console.log(result.finalOutput);
