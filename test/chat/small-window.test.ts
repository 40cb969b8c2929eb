import assert from 'node:assert/strict';
import { arrayOrEmpty, objectOrEmpty } from '../../src/base/json.ts';
import { withServedWindow } from '../../src/catalog/served-window.ts';
import { fitFixedPrompt } from '../../src/chat/session/small-window.ts';
import { streamFrames } from '../upstream/answers.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { modelAt, sessionAt, toolNamed } from './test-session.ts';

/** As a tokenizer counts code and JSON, rather too many. */
const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / 3.3);

const RULES = 'Always write tests. Never use `any`. '.repeat(900);
const NAMES = ['read_file', 'edit_file', 'search_text', 'list_files', 'run_in_terminal', 'create_file'];
const TOOLS = [...Array.from({ length: 24 }, (_, at) => `extra_${at}`), ...NAMES].map((name) =>
  toolNamed(name, {
    description: `Does ${name}. ${'It has many details that a large model may read. '.repeat(6)}`,
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The path from the root of the workspace. '.repeat(8) },
        description: { type: 'string' },
      },
      required: ['path'],
    },
    run: async () => ({ output: 'const line = "of a long file";\n'.repeat(1500) }),
  }),
);
const STEPS = 30;

describe('small windows', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  for (const [window, most] of [
    [4096, 1500],
    [8192, 2000],
    [32_768, 4000],
  ] as const) {
    it(`small window: a task of ${STEPS} steps ends in ${window} tokens, and no request is larger`, async () => {
      let step = 0;
      const sizes: number[] = [];
      const fixed: number[] = [];
      const offered = new Set<string>();
      upstream.respond(({ body }, response) => {
        const { messages, tools } = body;
        const size = tokens([messages, tools ?? []]);
        sizes.push(size);
        const system = arrayOrEmpty(messages).filter((each) => objectOrEmpty(each).role === 'system');
        fixed.push(tokens([system, tools ?? []]));
        for (const tool of arrayOrEmpty(tools)) offered.add(String(objectOrEmpty(objectOrEmpty(tool).function).name));
        const isSummary = tools === undefined;
        if (!isSummary) step += 1;
        const call = { id: `c${step}`, name: 'read_file', arguments: [`{"path":"file-${step}.ts"}`] };
        const script = isSummary
          ? { text: ['Work goes on.'] }
          : step <= STEPS
            ? { tools: [call], finish: 'tool' as const }
            : { text: ['Done.'] };
        const usage = { input: size, output: 20 };
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`${streamFrames('chat', { ...script, usage }).join('\n\n')}\n\n`);
        return undefined;
      });
      const model = withServedWindow(modelAt(upstream), { context: window });
      const { session } = sessionAt(
        upstream,
        { limit: model.limit, served: model.served },
        { tools: () => TOOLS, instructions: () => RULES },
      );
      await session.send({ text: 'Do the task.' });
      const last = session.messages.at(-1);
      assert.equal(last?.ending?.type, 'finished', JSON.stringify(last?.ending));
      assert.equal(step, STEPS + 1);
      assert.ok(Math.max(...sizes) <= window, `${Math.max(...sizes)}`);
      assert.ok(Math.max(...fixed) <= most, `${Math.max(...fixed)}`);
      for (const name of NAMES) assert.ok(offered.has(name), `${name} of ${[...offered].join()}`);
      const omitted = session.messages.flatMap((message) => message.omitted ?? []);
      assert.ok(omitted.includes('instructions'), 'the user sees what is left out');
    });
  }

  it('small window: a large or unknown window has everything, and the same input has the same result', () => {
    const tools = TOOLS.map(({ name, description, parameters }) => ({ name, description, parameters }));
    for (const window of [0, 131_072]) {
      assert.deepEqual(fitFixedPrompt(window, RULES, tools, ''), { instructions: RULES, tools, omitted: [] });
    }
    assert.deepEqual(fitFixedPrompt(8192, RULES, tools, ''), fitFixedPrompt(8192, RULES, tools, ''));
    const short = fitFixedPrompt(8192, 'Be brief.', tools, '').tools.find(({ name }) => name === 'read_file');
    assert.deepEqual(short, {
      name: 'read_file',
      description: 'Does read_file.',
      parameters: {
        type: 'object',
        properties: { path: { type: 'string' }, description: { type: 'string' } },
        required: ['path'],
      },
    });
  });
});
