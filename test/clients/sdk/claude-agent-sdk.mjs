import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { SVC_MODEL, SVC_PROMPT, TOOLS } from './tools.mjs';

const tools = TOOLS.map(({ name, description, parameters, execute }) => {
  const shape = Object.fromEntries(Object.keys(parameters.properties).map((key) => [key, z.string()]));
  return tool(name, description, shape, async (input) => ({ content: [{ type: 'text', text: execute(input) }] }));
});
const workspace = createSdkMcpServer({ name: 'workspace', version: '1.0.0', tools });
const options = {
  model: SVC_MODEL,
  mcpServers: { workspace },
  allowedTools: TOOLS.map(({ name }) => `mcp__workspace__${name}`),
};
for await (const message of query({ prompt: SVC_PROMPT, options })) {
  if (message.type === 'result') console.log(message.result ?? JSON.stringify(message));
}
