// The tools of the SDKs' agents: they act in the working folder.
import { execSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const text = { type: 'string' };

export const TOOLS = [
  {
    name: 'read_file',
    description: 'Reads a file.',
    parameters: schema({ path: text }),
    execute: ({ path }) => readFileSync(path, 'utf8'),
  },
  {
    name: 'run_command',
    description: 'Runs a shell command.',
    parameters: schema({ command: text }),
    execute: ({ command }) => execSync(command, { encoding: 'utf8' }),
  },
  {
    name: 'edit_file',
    description: 'Replaces a text in a file.',
    parameters: schema({ path: text, from: text, to: text }),
    execute: ({ path, from, to }) => {
      writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
      return 'edited';
    },
  },
];

export const { SVC_URL, SVC_KEY, SVC_MODEL, SVC_PROMPT } = process.env;

export function execute(name, input) {
  const tool = TOOLS.find((each) => each.name === name);
  return tool === undefined ? `Unknown tool ${name}` : tool.execute(input);
}

function schema(properties) {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
