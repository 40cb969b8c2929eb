import type { ToolChoice, ToolName, VendorTool } from '../conversation.ts';
import { unsupportedField } from '../errors/svc-error.ts';

/** The identity of a tool: two tools of different namespaces may have the same name. */
export function toolKey({
  name,
  namespace,
}: {
  readonly name: string;
  readonly namespace?: string | undefined;
}): string {
  return JSON.stringify([namespace ?? '', name]);
}

/**
 * The choice between some of the tools. Tools that only their vendor runs are not in the list.
 *
 * @throws SvcError 400 if one of them must be called and none is left.
 */
export function allowTools(mode: 'auto' | 'required', tools: readonly ToolName[]): ToolChoice {
  if (tools.length > 0) return { type: 'allowed', mode, tools };
  if (mode === 'auto') return { type: 'none' };
  throw unsupportedField('tool_choice', 'None of the tools in `tool_choice` can be sent to this model.');
}

/** Refuses a choice that only a tool of the vendor could satisfy. @throws SvcError 400. */
export function refuseDemandedTool(tool: VendorTool | undefined): void {
  if (tool === undefined) return;
  throw unsupportedField(
    `${tool.at}.type`,
    `\`tool_choice\` demands the tool "${tool.type}", which only its vendor can run. This model can’t be sent it.`,
  );
}
