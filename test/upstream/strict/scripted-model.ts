import type { Script, ScriptedCall } from '../answers.ts';
import type { ModelRequest, OfferedTool } from './model-request.ts';

/** A call of a tool that the client offers; the input of a custom tool is text. */
export interface ToolUse {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>> | string;
}

/** The tools of a client by what they do. */
export interface Toolbox {
  readonly read: (file: string) => ToolUse;
  readonly run: (command: string) => ToolUse;
  readonly edit: (file: string, from: string, to: string) => ToolUse;
  /** Loads tools that the client does not offer at first. */
  readonly discover?: ToolUse;
}

export const TASK = {
  prompt: 'Read greeting.txt and run the command, replace Oslo by Bergen in the file, check it and report.',
  file: 'greeting.txt',
  before: 'Hello from Oslo.\n',
  after: 'Hello from Bergen.\n',
  // Terminals of some clients lose the output of a command that ends at once.
  command: 'echo token-$((40 + 2)) && sleep 0.3',
  /** Parts of the results of the four calls, in order. `undefined`: each client words the result of an edit differently. */
  results: ['Hello from Oslo.', 'token-42', undefined, 'Hello from Bergen.'],
  answer: 'TASK-DONE: the greeting is from Bergen.',
};

/** A call that the model made, as it must come back. */
export interface MadeCall extends ToolUse {
  readonly id: string;
}

/** What the model does next: the first call of an unknown tool is reported by its name. */
export type NextStep = { readonly script: Script; readonly calls: readonly MadeCall[] } | { readonly missing: string };

const SIDE_ANSWER: NextStep = { script: { text: ['Greeting'], ids: 'side' }, calls: [] };

/**
 * The model of the task: it reads and runs a command in parallel, edits, checks and answers. The step follows from the
 * assistant turns with calls in the request. A request without tools (a title, a summary) gets a short text.
 */
export function nextStep(
  request: ModelRequest,
  toolbox: Toolbox | undefined,
  seal: string,
  mistral: boolean,
): NextStep {
  if (request.tools.length === 0 || toolbox === undefined) return SIDE_ANSWER;
  const step = countSteps(request, toolbox);
  const uses = listTurns(toolbox, request.parallel)[step];
  const thinking = request.thinks
    ? { reasoning: [request.showsThinking ? `Step ${step + 1}.` : ''], seal: request.seals ? seal : null }
    : {};
  if (uses === undefined)
    return { script: { text: ['TASK-DONE: ', TASK.answer.slice(11)], ...thinking, ids: `s${step}x` }, calls: [] };
  if (toolbox.discover !== undefined && uses.some(({ name }) => findTool(request.tools, name) === undefined)) {
    return discoverTools(request, toolbox.discover, thinking);
  }
  const calls: MadeCall[] = [];
  const tools: ScriptedCall[] = [];
  for (const [index, use] of uses.entries()) {
    const offered = findTool(request.tools, use.name);
    if (offered === undefined) return { missing: use.name };
    const id = mistral ? `callStep${step}${index}`.slice(-9) : `call_step${step}${index}aBcDeFgHiJkL`;
    calls.push({ ...use, name: offered.name, id });
    tools.push(scriptedCall(id, offered, use.input));
  }
  const text = step === 0 ? { text: ['I read the file', ' and run the command.'] } : {};
  return { script: { ...thinking, ...text, tools, ids: `s${step}x` }, calls };
}

/** The steps of the task that the conversation has done. */
export function countSteps({ turns }: ModelRequest, toolbox: Toolbox | undefined): number {
  return turns.filter((turn) => turn.some(({ name }) => name !== toolbox?.discover?.name)).length;
}

/** The discovery is no call of the task: it is not among those that must come back. */
function discoverTools(request: ModelRequest, discover: ToolUse, thinking: Script): NextStep {
  const offered = findTool(request.tools, discover.name);
  if (offered === undefined || request.turns.length > 0) return { missing: discover.name };
  const call = scriptedCall('call_discoveryBcDeFgHiJkL', offered, discover.input);
  return { script: { ...thinking, tools: [call], ids: 'discovery' }, calls: [] };
}

/** The calls of each turn of the model. */
function listTurns(toolbox: Toolbox, parallel: boolean): readonly (readonly ToolUse[])[] {
  const first = [toolbox.read(TASK.file), toolbox.run(TASK.command)];
  return [
    ...(parallel ? [first] : first.map((use) => [use])),
    [toolbox.edit(TASK.file, 'Oslo', 'Bergen')],
    [toolbox.run(`cat ${TASK.file}`)],
  ];
}

/** By its name, or by its name in a namespace that was bridged to `namespace__name`. */
function findTool(tools: readonly OfferedTool[], name: string): OfferedTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.name.endsWith(`__${name}`));
}

function scriptedCall(id: string, tool: OfferedTool, input: ToolUse['input']): ScriptedCall {
  const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace };
  if (tool.custom) {
    const text = typeof input === 'string' ? input : JSON.stringify(input);
    return { id, name: tool.name, arguments: [text], custom: true, ...namespace };
  }
  // The grammar of a custom tool that is bridged to a function is the text of its `input`.
  const text = JSON.stringify(typeof input === 'string' ? { input } : input);
  const middle = Math.floor(text.length / 2);
  return { id, name: tool.name, arguments: [text.slice(0, middle), text.slice(middle)], ...namespace };
}
