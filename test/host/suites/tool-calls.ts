import assert from 'node:assert/strict';
import { type ChatTool, completeOutcome, type ToolInput, type ToolOutcome } from '../../../src/chat/tools/tools.ts';

/** Calls tools as the agent loop does, without asking anyone. */
export class ToolCalls {
  readonly #tools: () => readonly ChatTool[];

  constructor(tools: () => readonly ChatTool[]) {
    this.#tools = tools;
  }

  prepare(name: string, input: ToolInput) {
    const found = this.#tools().find((each) => each.name === name);
    assert.ok(found, name);
    return Promise.resolve(found.prepare(input));
  }

  async run(name: string, input: ToolInput, signal = new AbortController().signal): Promise<ToolOutcome> {
    const prepared = await this.prepare(name, input);
    return completeOutcome(await prepared.run({ signal, message: 'm', call: 'c', owner: this }));
  }

  async output(name: string, input: ToolInput): Promise<string> {
    return (await this.run(name, input)).output;
  }
}
