import type { ClientName } from './install.ts';
import { FORMATS, Judges } from './judged-run.ts';
import { runSdk } from './sdk-run.ts';
import { type MakeToolbox, mcpTools, sdkTools } from './toolboxes.ts';

interface Sdk {
  readonly title: string;
  readonly client: ClientName;
  readonly script: string;
  /** The API or the provider that the script uses. */
  readonly api?: string;
  readonly toolbox?: MakeToolbox;
  readonly model?: string;
  /** The script has only one way to ask. */
  readonly streams?: readonly boolean[];
  /** The provider of Chat Completions. */
  readonly chat?: string;
}

/** Most are run whole and streamed. */
const SDKS: readonly Sdk[] = [
  { title: 'openai, Chat Completions, tool runner', client: 'openai', script: 'openai-chat' },
  { title: 'openai, Responses with reasoning', client: 'openai', script: 'openai-responses' },
  { title: '@anthropic-ai/sdk, beta tool runner', client: 'anthropic-sdk', script: 'anthropic-tool-runner' },
  { title: '@anthropic-ai/sdk with thinking', client: 'anthropic-sdk', script: 'anthropic-thinking', streams: [true] },
  { title: '@openai/agents', client: 'openai-agents', script: 'openai-agents' },
  { title: '@openai/agents, Chat Completions', client: 'openai-agents', script: 'openai-agents', api: 'chat' },
  { title: 'AI SDK, openai', client: 'ai-sdk', script: 'ai-sdk', api: 'openai' },
  { title: 'AI SDK, openai.chat', client: 'ai-sdk', script: 'ai-sdk', api: 'openai-chat' },
  { title: 'AI SDK, anthropic', client: 'ai-sdk', script: 'ai-sdk', api: 'anthropic' },
  { title: 'AI SDK, mistral', client: 'ai-sdk', script: 'ai-sdk', api: 'mistral', chat: 'mistral' },
  { title: 'AI SDK, openai-compatible', client: 'ai-sdk', script: 'ai-sdk', api: 'openai-compatible' },
  { title: 'LangChain, ChatOpenAI', client: 'langchain', script: 'langchain', api: 'openai' },
  { title: 'LangChain, ChatOpenAI, Responses', client: 'langchain', script: 'langchain', api: 'openai-responses' },
  { title: 'LangChain, ChatAnthropic', client: 'langchain', script: 'langchain', api: 'anthropic' },
  {
    title: 'Claude’s agent SDK with MCP tools',
    client: 'claude-agent-sdk',
    script: 'claude-agent-sdk',
    toolbox: mcpTools,
    streams: [true],
    model: 'claude-opus-4-6',
  },
  { title: '@mistralai/mistralai', client: 'mistralai', script: 'mistralai', chat: 'mistral' },
];

describe('SDKs in their default configuration', () => {
  let judges: Judges;
  before(async () => {
    judges = await Judges.start();
  });
  after(() => judges.close());

  for (const {
    title,
    client,
    script,
    api = '',
    toolbox = sdkTools,
    model = 'gpt-5.5',
    chat = 'chat',
    streams = [false, true],
  } of SDKS) {
    for (const format of FORMATS) {
      for (const stream of streams) {
        it(`${title}, ${stream ? 'streamed' : 'whole'}, completes the task with a ${format} provider`, async () => {
          const workspace = judges.begin(toolbox);
          const env = { SVC_API: api, SVC_STREAM: stream ? '1' : '' };
          const output = await runSdk(
            { client, script, model: `${format === 'chat' ? chat : format}/${model}`, env },
            judges,
            workspace,
          );
          judges.assertDone(workspace, output);
          judges.assertThinking(output);
          if (stream) judges.record(title, format, workspace);
        });
      }
    }
  }
});
