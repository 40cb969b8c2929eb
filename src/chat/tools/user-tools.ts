import * as z from 'zod';
import { TASK_STATES } from '../message-parts.ts';
import { defineTool } from './define-tool.ts';
import type { ChatTool } from './tools.ts';

/** Tools that show something to the user in the conversation. They have no other effect. */
export function userTools(): readonly ChatTool[] {
  return [
    defineTool(
      {
        name: 'ask_user',
        description: 'Asks the user one question. The user chooses, or writes another answer.',
        input: z.object({ question: z.string().min(1), choices: z.array(z.string()).max(10).optional() }),
      },
      false,
      ({ question, choices = [] }) => ({
        confirmation: true,
        action: { type: 'question', question, choices },
        run: async ({ answer = '' }) => ({ output: `The user answered: ${answer}` }),
      }),
    ),
    defineTool(
      {
        name: 'update_tasks',
        description: 'Shows the user the list of tasks of a longer job. Send the whole list at each change.',
        input: z.object({ tasks: z.array(z.object({ title: z.string(), state: z.enum(TASK_STATES) })).max(50) }),
      },
      false,
      ({ tasks }) => ({
        confirmation: false,
        action: { type: 'tasks', tasks },
        run: async () => ({ output: `${tasks.filter(({ state }) => state !== 'done').length} tasks are left.` }),
      }),
    ),
  ];
}
