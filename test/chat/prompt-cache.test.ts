import assert from 'node:assert/strict';
import { withServedWindow } from '../../src/catalog/served-window.ts';
import { streamFrames } from '../upstream/answers.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { modelAt, sessionAt, toolNamed } from './test-session.ts';

const STEPS = 30;
/** Share of the bytes of a request with which the next one begins, so that the server computes only the rest. */
const LEAST = 0.95;

/** As chat templates write it: tools first, then the messages. */
const rendered = ({ tools, messages }: Record<string, unknown>) => JSON.stringify([tools, messages]).slice(0, -2);

function sharedBytes(before: string, after: string): number {
  const limit = Math.min(before.length, after.length);
  let at = 0;
  while (at < limit && before[at] === after[at]) at += 1;
  return at;
}

describe('the prompt cache of a server', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  for (const [name, window] of [
    ['a large window', 131_072],
    ['a window of 32k', 32_768],
    ['a window of 8k', 8192],
  ] as const) {
    it(`prompt cache: each request of a task of ${STEPS} steps begins with the one before it, in ${name}`, async () => {
      let step = 0;
      const prompts: string[] = [];
      let compactions = 0;
      upstream.respond(({ body }, response) => {
        const isSummary = body.tools === undefined;
        if (isSummary) {
          compactions += 1;
          prompts.push('');
        } else {
          step += 1;
          prompts.push(rendered(body));
        }
        const call = { id: `c${step}`, name: 'read_file', arguments: [`{"path":"file-${step}.ts"}`] };
        const script = isSummary
          ? { text: ['Work goes on.'] }
          : step <= STEPS
            ? { text: [`Step ${step}.`], tools: [call], finish: 'tool' as const }
            : { text: ['Done.'] };
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const usage = { input: Math.ceil(JSON.stringify(body).length / 3.3), output: 20 };
        response.end(`${streamFrames('chat', { ...script, usage }).join('\n\n')}\n\n`);
        return undefined;
      });
      const tools = ['read_file', 'edit_file', 'run_in_terminal'].map((each) =>
        toolNamed(each, { run: async () => ({ output: `const value = ${step};\n`.repeat(40) }) }),
      );
      const { limit, served } = withServedWindow(modelAt(upstream), { context: window });
      const { session } = sessionAt(
        upstream,
        { limit, served },
        { tools: () => tools, instructions: () => 'Be brief.' },
      );
      await session.send({ text: 'Do the task.' });
      assert.equal(session.messages.at(-1)?.ending?.type, 'finished');
      assert.equal(step, STEPS + 1);
      const shares = prompts.flatMap((after, index) => {
        const before = prompts[index - 1];
        // The request after a compaction has another history.
        return before === undefined || before === '' || after === ''
          ? []
          : [sharedBytes(before, after) / before.length];
      });
      assert.ok(shares.length >= STEPS - 2 * compactions, `${shares.length} of ${prompts.length}`);
      assert.ok(Math.min(...shares) >= LEAST, `shares: ${shares.map((share) => share.toFixed(3)).join(' ')}`);
    });
  }
});
