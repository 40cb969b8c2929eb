import { defined } from '../../base/json.ts';
import type { AnswerOptions } from '../message-parts.ts';
import { readFrontMatter, textList } from './front-matter.ts';

/** A prompt file (`*.prompt.md`), which is used as `/name`. */
export interface PromptFile {
  readonly description?: string;
  readonly options: AnswerOptions;
  /** The prompt, with variables such as `${file}`. */
  readonly body: string;
}

/** Reads `description`, `model`, `tools` and `mode` (or `agent`) and the prompt itself. */
export async function readPromptFile(text: string): Promise<PromptFile> {
  const { fields, body } = await readFrontMatter(text);
  const { description } = fields;
  const [model] = textList(fields.model) ?? [];
  const tools = textList(fields.tools);
  const mode = fields.mode ?? fields.agent;
  return {
    ...(typeof description === 'string' ? { description } : {}),
    options: {
      ...(model === undefined ? {} : { model: model.replace(/ \(copilot\)$/i, '') }),
      ...defined({ tools }),
      ...(mode === 'ask' ? { readOnly: true } : {}),
      ...(mode === 'plan' ? { plan: true } : {}),
    },
    body,
  };
}

/** Values of the variables in a prompt. Absent ones are empty. */
export interface PromptValues {
  /** Path of the open file, relative to the workspace. */
  readonly file?: string;
  readonly selection?: string;
  readonly workspaceFolder?: string;
}

/** Asks the user for a value; undefined: the user has cancelled. */
export type AskInput = (name: string, placeholder: string) => Promise<string | undefined>;

const VARIABLE = /\$\{([A-Za-z]{1,40})(?::([^:{}]{1,100})(?::([^{}]{0,500}))?)?\}/g;

/**
 * Replaces `${file}`, `${fileBasename}`, `${selection}`, `${workspaceFolder}` and `${input:name:placeholder}`. Each input
 * is asked for once. Unknown variables stay.
 *
 * @returns undefined if the user cancelled an input.
 */
export async function expandPrompt(body: string, values: PromptValues, ask: AskInput): Promise<string | undefined> {
  const inputs = new Map<string, string>();
  for (const [, kind, name = '', placeholder = ''] of body.matchAll(VARIABLE)) {
    if (kind !== 'input' || name === '' || inputs.has(name)) continue;
    const value = await ask(name, placeholder);
    if (value === undefined) return undefined;
    inputs.set(name, value);
  }
  const { file = '', selection = '', workspaceFolder = '' } = values;
  const known: Readonly<Record<string, string>> = {
    file,
    relativeFile: file,
    fileBasename: file.slice(file.lastIndexOf('/') + 1),
    selection,
    selectedText: selection,
    workspaceFolder,
  };
  return body.replace(VARIABLE, (whole, kind: string, name: string | undefined) => {
    if (kind === 'input') return inputs.get(name ?? '') ?? whole;
    return Object.hasOwn(known, kind) ? (known[kind] ?? '') : whole;
  });
}
