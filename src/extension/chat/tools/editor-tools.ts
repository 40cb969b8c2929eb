import * as vscode from 'vscode';
import type { ChatTool, ToolOutcome } from '../../../chat/tools/tools.ts';
import { cautionInArguments } from '../../../chat/tools/workspace-files.ts';

/** Tools of VS Code 1.139 for its own chat's user interface, which are useless elsewhere. */
const INTERNAL = /_internal$|^inline_chat_|^setup_tools_/;

/**
 * The tools of VS Code, its extensions and its MCP servers. Each call needs confirmation, because their effects are
 * unknown. Tools with the name of one of our own are excluded.
 */
export function editorTools(taken: ReadonlySet<string>): readonly ChatTool[] {
  return vscode.lm.tools
    .filter(({ name }) => !taken.has(name) && !INTERNAL.test(name) && /^[\w-]{1,64}$/.test(name))
    .map(fromEditor);
}

function fromEditor({ name, description, inputSchema, tags }: vscode.LanguageModelToolInformation): ChatTool {
  const schema = typeof inputSchema === 'object' ? { ...inputSchema } : {};
  return {
    name,
    description,
    parameters: { type: 'object', ...schema },
    origin: toolOrigin(name, tags),
    changes: true,
    prepare: (input) => ({
      // They may access files: one that contains secrets or controls what runs needs confirmation each time.
      confirmation: cautionInArguments(input) ?? true,
      run: ({ signal }) => invoke(name, input, signal),
    }),
  };
}

/** Finds who provides a tool. The API does not report it, so use the declarations and the name's prefix. */
function toolOrigin(name: string, tags: readonly string[]): string {
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
