import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TASK, type Toolbox } from '../upstream/strict/scripted-model.ts';
import { installClient } from './install.ts';
import { FORMATS, Judges, KEY, runProgram, type Workspace } from './judged-run.ts';
import { CODEX, CODEX_SCRIPTED, CODEX_UNKNOWN } from './toolboxes.ts';

const MODELS: readonly { readonly model: string; readonly what: string; readonly toolbox: Toolbox }[] = [
  { model: 'gpt-5.5', what: 'a model that it knows (custom apply_patch, tool_search, web_search)', toolbox: CODEX },
  {
    model: 'gpt-6.1-sol',
    what: 'a model with additional_tools and custom tools in namespaces',
    toolbox: CODEX_SCRIPTED,
  },
  { model: 'm', what: 'a model that it does not know (namespaces, web_search)', toolbox: CODEX_UNKNOWN },
];

describe('Codex completes the task', () => {
  let judges: Judges;
  before(async () => {
    judges = await Judges.start();
  });
  after(() => judges.close());

  for (const { model, what, toolbox } of MODELS) {
    for (const format of FORMATS) {
      it(`Codex completes the task with ${what} of a ${format} provider`, async () => {
        const workspace = judges.begin(toolbox);
        configure(workspace, judges.url, `${format}/${model}`);
        const file = path.join(installClient('codex'), 'node_modules', '.bin', 'codex');
        const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', TASK.prompt];
        const output = await runProgram({ file, args, env: { SVC_KEY: KEY } }, workspace);
        judges.assertDone(workspace, output);
      });
    }
  }
});

/** The provider in config.toml: Codex manual, "Custom model providers". */
function configure({ home }: Workspace, url: string, model: string): void {
  const folder = path.join(home, '.codex');
  mkdirSync(folder);
  const lines = [
    `model = "${model}"`,
    'model_provider = "svc"',
    '[model_providers.svc]',
    'name = "Svc"',
    `base_url = "${url}/v1"`,
    'env_key = "SVC_KEY"',
    'wire_api = "responses"',
  ];
  writeFileSync(path.join(folder, 'config.toml'), lines.join('\n'));
}
