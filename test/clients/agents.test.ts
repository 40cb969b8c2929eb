import { AGENTS } from './agents.ts';
import { FORMATS, Judges, runProgram } from './judged-run.ts';

describe('coding agents in their default configuration', () => {
  let judges: Judges;
  before(async () => {
    judges = await Judges.start();
  });
  after(() => judges.close());

  for (const { title, toolbox, model, programs, dropsReasoning = false } of AGENTS) {
    for (const format of FORMATS) {
      it(`${title} completes the task with a ${format} provider`, async () => {
        const workspace = judges.begin(toolbox);
        let output = '';
        for (const program of programs({ url: judges.url, model: `${format}/${model}`, workspace })) {
          output = await runProgram(program, workspace);
        }
        judges.assertDone(workspace, output);
        if (!dropsReasoning) judges.assertThinking(output);
        judges.record(title, format, workspace);
      });
    }
  }
});
