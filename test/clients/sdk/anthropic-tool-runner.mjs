import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { SVC_KEY, SVC_MODEL, SVC_PROMPT, SVC_URL, TOOLS } from './tools.mjs';

const client = new Anthropic({ baseURL: SVC_URL, apiKey: SVC_KEY });
const runner = client.beta.messages.toolRunner({
  model: SVC_MODEL,
  max_tokens: 4_096,
  stream: process.env.SVC_STREAM === '1',
  system: [{ type: 'text', text: 'You edit files.', cache_control: { type: 'ephemeral' } }],
  messages: [{ role: 'user', content: SVC_PROMPT }],
  tools: TOOLS.map(({ name, description, parameters, execute }) =>
    betaTool({ name, description, inputSchema: parameters, run: execute }),
  ),
});
const { content } = await runner.runUntilDone();
for (const block of content) if (block.type === 'text') console.log(block.text);
