import { isObject, type JsonObject } from '../../base/json.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { cleanSchema } from '../../wire/tools/clean-schema.ts';
import type { Rules } from './rules.ts';

/** Cleans the schemas of tools in a body that the client wrote for this format. Returns the same object if nothing changes. */
export function fitOwnTools(format: FormatName, rules: Rules, body: JsonObject): JsonObject {
  const { tools } = body;
  if (!Array.isArray(tools)) return body;
  const fitted = tools.map((tool) => (isObject(tool) ? fitTool(format, rules, tool) : tool));
  return fitted.every((tool, index) => tool === tools[index]) ? body : { ...body, tools: fitted };
}

function fitTool(format: FormatName, rules: Rules, tool: JsonObject): JsonObject {
  if (format === 'messages') return withSchema(tool, 'input_schema', rules);
  if (format === 'responses') return withSchema(tool, 'parameters', rules);
  if (!isObject(tool.function)) return tool;
  const definition = withSchema(tool.function, 'parameters', rules);
  return definition === tool.function ? tool : { ...tool, function: definition };
}

function withSchema(holder: JsonObject, field: string, { schema }: Rules): JsonObject {
  const given = holder[field];
  if (!isObject(given)) return holder;
  const cleaned = cleanSchema(given, schema);
  return cleaned === given ? holder : { ...holder, [field]: cleaned };
}
