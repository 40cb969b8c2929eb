import path from 'node:path';
import { TASK } from '../upstream/strict/scripted-model.ts';
import { installClient } from './install.ts';
import { FORMATS, Judges, KEY, runProgram } from './judged-run.ts';
import { CLAUDE_CODE } from './toolboxes.ts';

interface Setting {
  readonly what: string;
  readonly model: string;
  readonly env?: Readonly<Record<string, string>>;
}

const SETTINGS: readonly Setting[] = [
  { what: 'adaptive thinking, its default', model: 'claude-opus-4-6' },
  { what: 'a thinking budget', model: 'claude-sonnet-4-5' },
  { what: 'thinking turned off', model: 'claude-sonnet-4-5', env: { MAX_THINKING_TOKENS: '0' } },
  { what: 'a model that it does not know', model: 'm' },
];

describe('Claude Code completes the task', () => {
  let judges: Judges;
  before(async () => {
    judges = await Judges.start();
  });
  after(() => judges.close());

  for (const { what, model, env = {} } of SETTINGS) {
    for (const format of FORMATS) {
      it(`Claude Code completes the task with ${what}, with a ${format} provider`, async () => {
        const workspace = judges.begin(CLAUDE_CODE);
        const access = { ANTHROPIC_BASE_URL: judges.url, ANTHROPIC_API_KEY: KEY };
        const name = `${format}/${model}`;
        const output = await runProgram(
          {
            file: claudePath(),
            args: ['-p', TASK.prompt, '--model', name, '--allowedTools', 'Bash,Read,Edit'],
            env: { ...access, ANTHROPIC_SMALL_FAST_MODEL: name, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ...env },
          },
          workspace,
        );
        judges.assertDone(workspace, output);
      });
    }
  }
});

/** The program is in a package for the platform; the command of the main package is a link that an install script sets. */
function claudePath(): string {
  const name = `claude-code-${process.platform}-${process.arch}`;
  return path.join(installClient('claude-code'), 'node_modules', '@anthropic-ai', name, 'claude');
}
