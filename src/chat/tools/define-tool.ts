import * as z from 'zod';
import type { ChatTool, NamedFile, PreparedCall, ToolOutcome, ToolRun } from './tools.ts';

/** Display name of the provider of our own tools. */
export const OWN_ORIGIN = 'Svc';

interface Definition<Shape extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Shape;
  /** The files that a call names (see `ChatTool.files`). */
  readonly files?: (args: z.infer<Shape>) => Promise<readonly NamedFile[]>;
}

/** A tool with checked arguments. The schema for the model is that of the check. */
export function defineTool<Shape extends z.ZodObject>(
  { name, description, input, files }: Definition<Shape>,
  changes: boolean,
  prepare: (args: z.infer<Shape>) => PreparedCall | Promise<PreparedCall>,
): ChatTool {
  return {
    ...{ name, description, origin: OWN_ORIGIN, changes, parameters: modelSchema(input) },
    ...(files === undefined
      ? {}
      : {
          files: async (given) => {
            const parsed = input.safeParse(given);
            // Then the call can't be prepared.
            return parsed.success ? files(parsed.data) : [];
          },
        }),
    prepare: async (given) => {
      const parsed = input.safeParse(given);
      if (!parsed.success) throw new Error(`The arguments are not valid. ${z.prettifyError(parsed.error)}`);
      return prepare(parsed.data);
    },
  };
}

/** A tool without effects, which needs no confirmation. */
export function defineReadingTool<Shape extends z.ZodObject>(
  definition: Definition<Shape>,
  run: (args: z.infer<Shape>, context: ToolRun) => Promise<ToolOutcome>,
): ChatTool {
  return defineTool(definition, false, (args) => ({ confirmation: false, run: (context) => run(args, context) }));
}

/** Each token counts: it is sent with every request. */
function modelSchema(input: z.ZodObject): Readonly<Record<string, unknown>> {
  const { $schema: _, additionalProperties: __, ...schema } = z.toJSONSchema(input, { io: 'input' });
  return schema;
}

/** The result of a search; `nothing` if it is empty. */
export function outcomeOf(found: string, nothing: string): ToolOutcome {
  return { output: found === '' ? nothing : found };
}
