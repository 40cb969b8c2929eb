import * as z from 'zod';
import { describeParameters } from './coerce-arguments.ts';
import type { ChatTool, NamedFile, PreparedCall, ToolInput, ToolOutcome, ToolRun } from './tools.ts';

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
  const parameters = modelSchema(input);
  return {
    name,
    description,
    origin: OWN_ORIGIN,
    changes,
    parameters,
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
      if (!parsed.success) throw new Error(invalidArguments(parsed.error, given, parameters));
      return prepare(parsed.data);
    },
  };
}

/** Number of characters of wrong arguments that the model gets back. */
const MAX_QUOTED = 300;

function invalidArguments(error: z.ZodError, given: ToolInput, parameters: ChatTool['parameters']): string {
  const text = JSON.stringify(given);
  const shown = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return `The arguments are not valid. ${z.prettifyError(error)}\n${describeParameters(parameters)} Received: ${shown}`;
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
