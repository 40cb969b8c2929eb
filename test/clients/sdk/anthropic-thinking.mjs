import Anthropic from '@anthropic-ai/sdk';
import { execute, SVC_KEY, SVC_MODEL, SVC_PROMPT, SVC_URL, TOOLS } from './tools.mjs';

const client = new Anthropic({ baseURL: SVC_URL, apiKey: SVC_KEY });
const messages = [{ role: 'user', content: SVC_PROMPT }];
const tools = TOOLS.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
for (;;) {
  const answer = await client.messages
    .stream({
      model: SVC_MODEL,
      max_tokens: 8_192,
      thinking: { type: 'enabled', budget_tokens: 2_048 },
      messages,
      tools,
    })
    .finalMessage();
  messages.push({ role: 'assistant', content: answer.content });
  const results = answer.content
    .filter((block) => block.type === 'tool_use')
    .map(({ id, name, input }) => ({ type: 'tool_result', tool_use_id: id, content: execute(name, input) }));
  if (results.length === 0) {
    for (const block of answer.content) if (block.type === 'text') console.log(block.text);
    break;
  }
  messages.push({ role: 'user', content: results });
}
