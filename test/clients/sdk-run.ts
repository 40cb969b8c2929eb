import { cpSync } from 'node:fs';
import path from 'node:path';
import { TASK } from '../upstream/strict/scripted-model.ts';
import type { Workspace } from './fixtures.ts';
import { type ClientName, installClient } from './install.ts';
import { type Judges, KEY, runProgram } from './judged-run.ts';

const SCRIPTS = path.join(import.meta.dirname, 'sdk');

export interface SdkAgent {
  readonly client: ClientName;
  /** The name of its script in `sdk/`. */
  readonly script: string;
  readonly model: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a script of `sdk/` with the packages of its client and returns its output. */
export function runSdk(
  { client, script, model, env }: SdkAgent,
  judges: Judges,
  workspace: Workspace,
): Promise<string> {
  // A copy among the client's packages finds them by name.
  const copy = path.join(installClient(client), 'sdk');
  cpSync(SCRIPTS, copy, { recursive: true });
  // Claude's agent SDK reads them.
  const anthropic = { ANTHROPIC_BASE_URL: judges.url, ANTHROPIC_API_KEY: KEY };
  return runProgram(
    {
      file: process.execPath,
      args: [path.join(copy, `${script}.mjs`)],
      env: { SVC_URL: judges.url, SVC_KEY: KEY, SVC_MODEL: model, SVC_PROMPT: TASK.prompt, ...anthropic, ...env },
    },
    workspace,
  );
}
