import OpenAI from 'openai';
import { execute, SVC_KEY, SVC_MODEL, SVC_PROMPT, SVC_URL, TOOLS } from './tools.mjs';

const client = new OpenAI({ baseURL: `${SVC_URL}/v1`, apiKey: SVC_KEY });
const runner = client.chat.completions.runTools({
  model: SVC_MODEL,
  stream: process.env.SVC_STREAM === '1',
  messages: [
    { role: 'developer', content: 'You edit files.' },
    { role: 'user', content: SVC_PROMPT },
  ],
  tools: TOOLS.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters, parse: JSON.parse, function: (input) => execute(name, input) },
  })),
});
console.log(await runner.finalContent());
