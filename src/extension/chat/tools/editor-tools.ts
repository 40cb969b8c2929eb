import * as vscode from 'vscode';
import type { ChatTool, ToolOutcome } from '../../../chat/tools/tools.ts';
import { cautionInArguments } from '../../../chat/tools/workspace-files.ts';

/** Tools of VS Code 1.139 that serve its own chat's interface and mean nothing elsewhere. */
const MACHINERY = /_internal$|^inline_chat_|^setup_tools_/;

/**
 * The tools that VS Code, its extensions and its MCP servers offer. Each call is asked for: what they do is theirs to
 * know. A tool of the same name as one of ours is left out.
 */
export function editorTools(taken: ReadonlySet<string>): readonly ChatTool[] {
  return vscode.lm.tools
    .filter(({ name }) => !taken.has(name) && !MACHINERY.test(name) && /^[\w-]{1,64}$/.test(name))
    .map(fromEditor);
}

function fromEditor({ name, description, inputSchema, tags }: vscode.LanguageModelToolInformation): ChatTool {
  const schema = typeof inputSchema === 'object' ? { ...inputSchema } : {};
  return {
    name,
    description,
    parameters: { type: 'object', ...schema },
    origin: addressOrigin(name, tags),
    changes: true,
    // They read and write files too: one that holds secrets or decides what runs is asked for each time.
    asks: (input) => cautionInArguments(input) ?? true,
    run: (input, signal) => invoke(name, input, signal),
  };
}

/** The API does not say who registered a tool: MCP servers and extensions put their name before the tool's. */
function addressOrigin(name: string, tags: readonly string[]): string {
  const extension = vscode.extensions.all.find(({ packageJSON }) => {
    const declared: unknown = packageJSON?.contributes?.languageModelTools;
    return Array.isArray(declared) && declared.some((each: { name?: unknown }) => each?.name === name);
  });
  if (extension) return String(extension.packageJSON.displayName ?? extension.id);
  const server = /^mcp_([^_]+)_/.exec(name)?.[1];
  if (server !== undefined) return `MCP: ${server}`;
  return tags.length > 0 ? tags.join(', ') : 'VS Code';
}

async function invoke(
  name: string,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const cancel = new vscode.CancellationTokenSource();
  const stop = () => cancel.cancel();
  signal.addEventListener('abort', stop);
  try {
    const result = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, cancel.token);
    return { output: result.content.map(contentText).join('\n') };
  } finally {
    signal.removeEventListener('abort', stop);
    cancel.dispose();
  }
}

function contentText(part: unknown): string {
  if (part instanceof vscode.LanguageModelTextPart) return part.value;
  if (part instanceof vscode.LanguageModelPromptTsxPart) return JSON.stringify(part.value);
  if (part instanceof vscode.LanguageModelDataPart) {
    const readable = /^(?:text\/|application\/json)/.test(part.mimeType);
    return readable ? Buffer.from(part.data).toString('utf8') : `[${part.mimeType}, ${part.data.byteLength} bytes]`;
  }
  return '';
}
