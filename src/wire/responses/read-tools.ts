import { arrayOrEmpty, defined, isObject, type JsonObject, nonEmptyString, objectOrEmpty } from '../../base/json.ts';
import type { Tool, ToolChoice, VendorTool } from '../conversation.ts';
import { invalidRequest, unsupportedField } from '../errors/svc-error.ts';
import { optionalBoolean, requiredToolName } from '../request-fields.ts';
import { allowTools, refuseDemandedTool, toolKey } from '../tools/tool-choice.ts';

/** A list of tools and its path in the request. */
export interface ToolList {
  readonly tools: unknown;
  readonly at: string;
}

export interface ReadTools {
  readonly tools: readonly Tool[];
  /** `undefined` if there are none. */
  readonly vendorTools: readonly VendorTool[] | undefined;
}

/** Reads the tools of a request, also those that items of its input add. If a tool is in two lists, the last counts. */
export function readResponsesTools(lists: readonly ToolList[]): ReadTools {
  const tools = new Map<string, Tool>();
  const vendorTools: VendorTool[] = [];
  const read = (value: unknown, at: string, namespace?: Tool['namespace']): void => {
    const tool = objectOrEmpty(value);
    if (tool.type === 'namespace' && namespace === undefined) {
      const own = defined({ name: requiredToolName(tool, at), description: nonEmptyString(tool.description) });
      for (const [index, inner] of arrayOrEmpty(tool.tools).entries()) read(inner, `${at}.tools.${index}`, own);
    } else if (tool.type === 'function' || tool.type === 'custom') {
      const made = readTool(tool, at, namespace);
      tools.set(toolKey({ name: made.name, namespace: namespace?.name }), made);
    } else if (typeof tool.type === 'string') vendorTools.push({ type: tool.type, at });
    else throw invalidRequest(`${at}.type`, 'A tool needs a type.');
  };
  for (const { tools: list, at } of lists) {
    for (const [index, tool] of arrayOrEmpty(list).entries()) read(tool, `${at}.${index}`);
  }
  return { tools: [...tools.values()], vendorTools: vendorTools.length > 0 ? vendorTools : undefined };
}

function readTool(tool: JsonObject, at: string, namespace: Tool['namespace']): Tool {
  const common = { name: requiredToolName(tool, at), description: nonEmptyString(tool.description), namespace };
  const empty = { type: 'object', properties: {} };
  if (tool.type === 'custom') return defined({ ...common, parameters: empty, custom: readFormat(tool.format) });
  return defined({
    ...common,
    parameters: isObject(tool.parameters) ? tool.parameters : empty,
    strict: optionalBoolean(tool, 'strict'),
  });
}

function readFormat(value: unknown): NonNullable<Tool['custom']> {
  const { type, syntax, definition } = objectOrEmpty(value);
  if (type !== 'grammar' || typeof definition !== 'string') return {};
  return { grammar: { syntax: nonEmptyString(syntax) ?? 'lark', definition } };
}

/** @throws SvcError 400 if the choice demands a tool that only its vendor can run. */
export function readResponsesToolChoice(
  value: unknown,
  tools: readonly Tool[],
  vendorTools: readonly VendorTool[] | undefined,
): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'none' || value === 'auto') return { type: value };
  if (value === 'required') {
    if (tools.length === 0) refuseDemandedTool(vendorTools?.[0]);
    return { type: value };
  }
  const choice = objectOrEmpty(value);
  const named = (type: unknown) => type === 'function' || type === 'custom';
  if (named(choice.type) && typeof choice.name === 'string') {
    return defined({ type: 'tool' as const, name: choice.name, namespace: nonEmptyString(choice.namespace) });
  }
  if (choice.type === 'allowed_tools') {
    const listed = arrayOrEmpty(choice.tools).map(objectOrEmpty);
    const names = listed.flatMap(({ type, name, namespace }) =>
      named(type) && typeof name === 'string' ? [defined({ name, namespace: nonEmptyString(namespace) })] : [],
    );
    return allowTools(choice.mode === 'required' ? 'required' : 'auto', names);
  }
  if (named(choice.type) || typeof choice.type !== 'string') {
    throw invalidRequest('tool_choice', '`tool_choice` must be "none", "auto", "required" or name a function.');
  }
  throw unsupportedField('tool_choice', `\`tool_choice\` of type "${choice.type}" can’t be sent to this model.`);
}
