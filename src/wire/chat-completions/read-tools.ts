import { arrayOrEmpty, defined, isObject, type JsonObject, nonEmptyString, objectOrEmpty } from '../../base/json.ts';
import type { Tool, ToolChoice, VendorTool } from '../conversation.ts';
import { invalidRequest } from '../errors/svc-error.ts';
import { optionalBoolean, readCacheControl, requiredToolName } from '../request-fields.ts';
import { allowTools, refuseDemandedTool } from '../tools/tool-choice.ts';

/** Reads functions and custom tools. Some vendors also have tools that they run themselves. */
export function readChatTools(value: unknown): {
  readonly tools: readonly Tool[];
  /** `undefined` if there are none. */
  readonly vendorTools: readonly VendorTool[] | undefined;
} {
  const tools: Tool[] = [];
  const vendorTools: VendorTool[] = [];
  for (const [index, each] of arrayOrEmpty(value).entries()) {
    const tool = objectOrEmpty(each);
    const at = `tools.${index}`;
    if (tool.type === 'function' || tool.type === undefined) tools.push(readFunction(tool, at));
    else if (tool.type === 'custom') tools.push(readCustom(objectOrEmpty(tool.custom), at));
    else if (typeof tool.type === 'string') vendorTools.push({ type: tool.type, at });
    else throw invalidRequest(`${at}.type`, 'A tool needs a type.');
  }
  return { tools, vendorTools: vendorTools.length > 0 ? vendorTools : undefined };
}

function readFunction(tool: JsonObject, at: string): Tool {
  const definition = objectOrEmpty(tool.function);
  return defined({
    name: requiredToolName(definition, `${at}.function`),
    description: nonEmptyString(definition.description),
    parameters: isObject(definition.parameters) ? definition.parameters : { type: 'object', properties: {} },
    strict: optionalBoolean(definition, 'strict'),
    cacheControl: readCacheControl(tool),
  });
}

function readCustom(custom: JsonObject, at: string): Tool {
  const { syntax, definition } = objectOrEmpty(objectOrEmpty(custom.format).grammar);
  const grammar = typeof definition === 'string' ? { syntax: nonEmptyString(syntax) ?? 'lark', definition } : undefined;
  return defined({
    name: requiredToolName(custom, `${at}.custom`),
    description: nonEmptyString(custom.description),
    parameters: { type: 'object', properties: {} },
    custom: defined({ grammar }),
  });
}

/** @throws SvcError 400 if the choice demands a tool that only its vendor can run. */
export function readChatToolChoice(
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
  if (choice.type === 'allowed_tools') {
    const { mode, tools: listed } = objectOrEmpty(choice.allowed_tools);
    const names = arrayOrEmpty(listed).flatMap((tool) => toolName(objectOrEmpty(tool)) ?? []);
    return allowTools(
      mode === 'required' ? 'required' : 'auto',
      names.map((name) => ({ name })),
    );
  }
  const name = toolName(choice);
  if (name !== undefined) return { type: 'tool', name };
  throw invalidRequest('tool_choice', '`tool_choice` must be "none", "auto", "required" or name a function.');
}

function toolName(choice: JsonObject): string | undefined {
  return nonEmptyString(objectOrEmpty(choice.function ?? choice.custom).name);
}
