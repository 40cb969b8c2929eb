import * as vscode from 'vscode';
import { definitionText, toolIdentity } from '../../../chat/tools/tool-identity.ts';
import type { ChatTool, NamedFile, ToolOutcome } from '../../../chat/tools/tools.ts';
import { cautionInArguments, namedFile, pathsInArguments } from '../../../chat/tools/workspace-files.ts';
import { isDataPart } from '../../models/data-part.ts';
import { workspaceFile } from './workspace-path.ts';

/**
 * The tools of VS Code 1.139 itself that work outside of its own chat, open no dialog, and that Svc does not have. Its
 * other tools need its chat or open dialogs with texts of the model.
 */
const OF_VSCODE = new Set(['terminal_last_command', 'terminal_selection', 'testFailure']);
/** Extensions that belong to VS Code's own chat. */
const CHAT_EXTENSIONS = /^(?:vscode\.|github\.copilot)/i;

/**
 * The tools of VS Code, its extensions and its MCP servers. Each call needs permission, because their effects are
 * unknown. Tools with the name of one of our own are excluded.
 */
export function editorTools(taken: ReadonlySet<string>): readonly ChatTool[] {
  const extensions = declaringExtensions();
  return vscode.lm.tools.flatMap((tool) => {
    if (taken.has(tool.name) || !/^[\w-]{1,64}$/.test(tool.name)) return [];
    const extension = extensions.get(tool.name);
    const server = /^mcp_([^_]+)_/.exec(tool.name)?.[1];
    if (extension)
      return CHAT_EXTENSIONS.test(extension.id) ? [] : editorTool(tool, extensionName(extension), extension.id);
    if (server !== undefined) return editorTool(tool, `MCP: ${server}`);
    // A tool that an extension registers without a declaration has no tags either, and is not known.
    return OF_VSCODE.has(tool.name) ? editorTool(tool, 'VS Code') : [];
  });
}

/** @param source identifies the provider. */
export function editorTool(
  { name, description, inputSchema }: vscode.LanguageModelToolInformation,
  origin: string,
  source = origin,
): ChatTool {
  const schema = typeof inputSchema === 'object' ? { ...inputSchema } : {};
  return {
    name,
    description,
    parameters: { type: 'object', ...schema },
    origin,
    changes: true,
    identity: toolIdentity({ source, name, description, schema }),
    definition: definitionText({ description, schema }),
    files: filesInArguments,
    prepare: (input) => ({
      // They may access files: one that contains secrets or controls which programs run needs confirmation each time.
      confirmation: cautionInArguments(input) ?? true,
      run: ({ signal }) => invoke(name, input, signal),
    }),
  };
}

/** The effect of such a tool on a file is not known, so all rules for files apply. */
async function filesInArguments(input: unknown): Promise<readonly NamedFile[]> {
  const { paths } = pathsInArguments(input);
  const found = await Promise.all(
    paths.map(async (path) => {
      const file = await workspaceFile(path).catch(() => undefined);
      return file && file.onDisk?.relative !== '' ? [namedFile(file, path, ['read', 'edit', 'delete'])] : [];
    }),
  );
  return found.flat();
}

/** The extensions by the tools that they declare. The API does not report who provides a tool. */
function declaringExtensions(): ReadonlyMap<string, vscode.Extension<unknown>> {
  const found = new Map<string, vscode.Extension<unknown>>();
  for (const extension of vscode.extensions.all) {
    const declared: unknown = extension.packageJSON?.contributes?.languageModelTools;
    if (!Array.isArray(declared)) continue;
    for (const tool of declared) if (typeof tool?.name === 'string') found.set(tool.name, extension);
  }
  return found;
}

function extensionName({ id, packageJSON }: vscode.Extension<unknown>): string {
  return String(packageJSON.displayName ?? id);
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
  if (isDataPart(part)) {
    const readable = /^(?:text\/|application\/json)/.test(part.mimeType);
    return readable ? Buffer.from(part.data).toString('utf8') : `[${part.mimeType}, ${part.data.byteLength} bytes]`;
  }
  return '';
}
