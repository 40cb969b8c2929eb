import { textChange } from '../../src/chat/tools/file-change.ts';
import type { Message, Part, ToolState } from '../../src/chat/transcript.ts';
import type { ToPage } from '../../src/protocol/chat/page-messages.ts';
import { COMPLETE, MODEL, snapshot, transcriptOf, VIEW } from './panel-page.ts';

const user = (text: string, more: Partial<Message> = {}): Partial<Message> => ({
  role: 'user',
  parts: [{ type: 'text', text }],
  ...more,
});
const answer = (parts: readonly Part[], more: Partial<Message> = {}): Partial<Message> => ({
  role: 'assistant',
  parts,
  model: MODEL,
  ending: COMPLETE,
  usage: { input: 12_400, output: 640, cacheRead: 9000 },
  context: 13_040,
  price: 0.0468,
  ...more,
});
const text = (value: string): Part => ({ type: 'text', text: value });

export const RICH = `The function adds up **prices in cents** and applies the discount once.

1. It reads each item with \`readItem\`.
2. It rounds *after* the sum, so no cent is lost.

\`\`\`ts
export function basketTotal(items: readonly Item[], discount = 0): number {
  // Cents, so that nothing is lost to rounding.
  const sum = items.reduce((total, { price, count }) => total + price * count, 0);
  return Math.round(sum * (1 - discount));
}
\`\`\`

| case | total |
|---|---:|
| empty basket | 0 |
| two apples | 250 |

> A negative count is not refused. See [the notes](https://example.com/notes).

\`\`\`sh
npm test -- --grep basket
\`\`\`
`;

const TOOL: Extract<Part, { type: 'tool' }> = {
  type: 'tool',
  id: 'call_1',
  name: 'edit_file',
  origin: 'Svc',
  changes: true,
  text: JSON.stringify({ path: 'src/basket.ts', old_text: 'let sum = 0', new_text: 'let sum = 0n' }),
  action: {
    type: 'changes',
    changes: [textChange('src/basket.ts', 'let sum = 0;\n', 'let sum = 0n;\n').change],
  },
  state: { type: 'waiting', rules: ['edit:**'] },
};

const BASKET_BEFORE = `import type { Item } from './item.ts';

export function basketTotal(items: readonly Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  // Cents, so that nothing is lost to rounding.
  return Math.round(sum);
}
`;
const BASKET = textChange(
  'src/basket.ts',
  BASKET_BEFORE,
  BASKET_BEFORE.replace('let sum = 0;', 'let sum = 0n;')
    .replace('number {', 'bigint {')
    .replace('sum += item.price;', 'sum += BigInt(item.price) * BigInt(item.count);')
    .replace('return Math.round(sum);', 'return sum;'),
).change;
const LONG_FILE = Array.from({ length: 120 }, (_, index) => `export const value${index} = ${index};\n`).join('');

const call = (name: string, input: unknown, state: ToolState): Part => ({
  ...{ type: 'tool', id: `${name} ${JSON.stringify(input)}`, name, origin: 'Svc', changes: false, state },
  text: JSON.stringify(input),
});
const command = (line: string, state: ToolState): Part => ({
  ...{ type: 'tool', id: line, name: 'run_in_terminal', origin: 'Svc', changes: true, state },
  text: JSON.stringify({ command: line }),
  action: { type: 'command', command: line, cwd: '', explanation: '' },
});

/** A hundred lines: invisible characters in the first, the important part in the last. */
const LONG_COMMAND = Array.from({ length: 100 }, (_, index) => {
  const end = index === 0 ? '\u200b\u202e\u0015' : index === 99 ? '; rm -r x' : '';
  return `echo ${index}${end}`;
}).join('\n');

const MODEL_SET: ToPage = { type: 'model', model: VIEW };
const TRUSTED: ToPage = { type: 'workspace', trusted: true, history: true };

/** Each state of the page by name, with the messages of the host that lead to it. */
export const STATES: Readonly<Record<string, readonly ToPage[]>> = {
  'first-run': [{ type: 'model', model: null }, TRUSTED, snapshot(transcriptOf())],
  empty: [MODEL_SET, { type: 'workspace', trusted: false, history: true }, snapshot(transcriptOf())],
  waiting: [MODEL_SET, snapshot(transcriptOf(user('What does basketTotal return?'), running([])))],
  answer: [MODEL_SET, snapshot(transcriptOf(user('What does basketTotal return?'), answer([text(RICH)])))],
  streaming: [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Rewrite it without the loop.'),
        running([
          { type: 'reasoning', text: 'The loop only adds.', ms: 4200 },
          text('Here it is:\n\n```ts\nexport const total = (items: Item[]) =>\n  items.reduce((sum'),
        ]),
      ),
    ),
  ],
  reasoning: [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Why is it slow?'),
        running([{ type: 'reasoning', text: 'It sorts in each round. That is quadratic, so …' }]),
      ),
    ),
  ],
  tools: [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Use bigint for the sum.'),
        running([
          text('I will look at the code first.'),
          call('search_text', { query: 'let sum' }, { type: 'done', output: 'src/basket.ts:12: let sum = 0;', ms: 40 }),
          { type: 'step' },
          call('read_file', { path: 'src/basket.ts' }, { type: 'done', output: 'let sum = 0;', ms: 3 }),
          call('read_file', { path: 'src/item.ts' }, { type: 'done', output: 'export interface Item {}', ms: 2 }),
          { type: 'step' },
          command('rm -rf build', { type: 'denied', reason: 'I build elsewhere.' }),
          command('npm test', { type: 'done', output: '1 failing\n[exit code 1]', exitCode: 1, ms: 3200 }),
          { ...TOOL, id: 'call_8', state: { type: 'done', output: 'src/basket.ts was changed.', ms: 12 } },
          { type: 'step' },
          { ...TOOL, action: { type: 'changes', changes: [BASKET] } },
        ]),
      ),
    ),
  ],
  'several-waiting': [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Rename it everywhere.'),
        running([
          text('Three changes are necessary.'),
          { ...TOOL, id: 'call_1', action: { type: 'changes', changes: [BASKET] } },
          {
            ...TOOL,
            id: 'call_2',
            action: { type: 'changes', changes: [textChange('src/new.ts', undefined, LONG_FILE).change] },
          },
          command('npm test', { type: 'waiting', rules: ['command:npm test'] }),
        ]),
      ),
    ),
  ],
  'changed-files': [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Use bigint for the sum.'),
        answer([
          { ...TOOL, action: { type: 'changes', changes: [BASKET] }, state: { type: 'done', output: 'ok', ms: 4 } },
          text('`basketTotal` returns a `bigint` now.'),
        ]),
      ),
    ),
    {
      type: 'turns',
      turns: [
        {
          message: 'm1',
          files: [
            { path: 'src/shop/basket.ts', added: 6, removed: 3 },
            { path: 'src/shop/basket.test.ts', added: 3, removed: 0 },
            { path: 'README.md', added: 1, removed: 0 },
          ],
          state: 'pending',
          calls: ['call_1'],
          undone: [],
        },
      ],
    },
  ],
  'tool-question': [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Set it up.'),
        running([
          {
            ...TOOL,
            name: 'update_tasks',
            id: 'call_1',
            changes: false,
            action: {
              type: 'tasks',
              tasks: [
                { title: 'Read the configuration', state: 'done' },
                { title: 'Choose a test runner', state: 'active' },
                { title: 'Write the first test', state: 'open' },
              ],
            },
            state: { type: 'done', output: 'ok' },
          },
          {
            ...TOOL,
            name: 'ask_user',
            id: 'call_2',
            changes: false,
            action: { type: 'question', question: 'Which test runner do you prefer?', choices: ['mocha', 'node:test'] },
          },
        ]),
      ),
    ),
  ],
  cautioned: [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Build it with one key.'),
        running([{ ...TOOL, state: { type: 'waiting', caution: { kind: 'editor', path: '.vscode/tasks.json' } } }]),
      ),
    ),
  ],
  'long-command': [
    MODEL_SET,
    snapshot(transcriptOf(user('Run it.'), running([command(LONG_COMMAND, { type: 'waiting' })]))),
  ],
  error: [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Hello?'),
        answer([], {
          ending: {
            type: 'failed',
            error: {
              errorType: 'authentication_required',
              status: 401,
              title: 'The key was not accepted',
              message: 'Incorrect API key provided.',
              advice: 'Check the API key of this provider.',
              action: 'set-key',
              provider: 'up',
            },
          },
        }),
      ),
    ),
  ],
  composer: [
    MODEL_SET,
    {
      type: 'context',
      chips: [
        { id: 'editor', kind: 'editor', label: 'basket.ts:3-9', detail: 'src/basket.ts:3-9', tokens: 120, on: true },
        { id: 'AGENTS.md', kind: 'instructions', label: 'AGENTS.md', tokens: 1840, on: true },
        {
          id: 'team.md',
          kind: 'instructions',
          label: 'team.md',
          detail: '.svc/instructions/team.md',
          tokens: 260,
          on: false,
        },
      ],
    },
    {
      type: 'queue',
      messages: [
        {
          id: 'q1',
          text: 'Also rename the file, and then change every import of it in the workspace.',
          attachments: [],
        },
        { id: 'q2', text: 'Run the tests.', attachments: [] },
      ],
    },
    snapshot(transcriptOf(user('Use bigint for the sum.'), running([text('I will look at the code first.')]))),
  ],
  plan: [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Add a discount.', { options: { plan: true } }),
        answer([
          text(
            '**Goal:** a discount for members.\n\n1. `src/basket.ts`: add a parameter.\n2. `test/basket.test.ts`: add two cases.',
          ),
        ]),
      ),
    ),
  ],
  formulas: [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Explain the formula.'),
        answer([
          text(
            'The sum $s = \\sum_{i=1}^n p_i c_i$ is rounded once:\n\n$$\nr = \\left\\lfloor s (1 - d) + \\frac{1}{2} \\right\\rfloor\n$$\n\nPress <kbd>Ctrl</kbd>+<kbd>S</kbd>; H<sub>2</sub>O.\n\n```diff\n-let sum = 0;\n+let sum = 0n;\n```\n\n- [x] read `src/basket.ts:12`\n- [ ] write the test',
          ),
        ]),
      ),
    ),
  ],
  incomplete: [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('List all of them.'),
        answer([text('1. the first\n2. the second\n3. the')], {
          ending: { type: 'finished', reason: 'length', outcome: 'incomplete' },
        }),
      ),
    ),
  ],
  'reasoning-only': [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Prove it.'),
        answer([{ type: 'reasoning', text: 'First …', ms: 61_000 }], {
          ending: { type: 'finished', reason: 'length', outcome: 'reasoning-only' },
        }),
      ),
    ),
  ],
  branch: [
    MODEL_SET,
    {
      ...snapshot(transcriptOf()),
      transcript: {
        title: 'Test',
        pinned: false,
        leaf: 'a2',
        messages: [
          { id: 'u', role: 'user', parts: [text('Name it.')], createdAt: 0 },
          { id: 'a1', parent: 'u', role: 'assistant', parts: [text('Basket')], createdAt: 1, ending: COMPLETE },
          {
            id: 'a2',
            parent: 'u',
            role: 'assistant',
            parts: [text('`ShoppingCart`')],
            createdAt: 2,
            ending: COMPLETE,
            model: MODEL,
          },
          { id: 'a3', parent: 'u', role: 'assistant', parts: [text('Cart')], createdAt: 3, ending: COMPLETE },
        ],
      },
    } as ToPage,
  ],
  attachments: [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('What is wrong here?', {
          attachments: [
            { id: '1', kind: 'selection', label: 'basket.ts:10-24', detail: 'src/basket.ts:10-24', tokens: 210 },
            { id: '2', kind: 'problems', label: 'Problems', tokens: 64 },
          ],
        }),
        answer([text('The type of `sum` does not match.')]),
      ),
    ),
    {
      type: 'draft',
      text: 'And in this picture?',
      attachments: [
        { id: '3', kind: 'image', label: 'screen.png', tokens: 1500, preview: pixel() },
        { id: '4', kind: 'file', label: 'a-file-with-a-rather-long-name.test.ts', tokens: 18_200 },
      ],
    },
  ],
  summary: [
    MODEL_SET,
    snapshot(
      transcriptOf(
        user('Earlier question'),
        answer([text('Earlier answer')]),
        user('Go on.'),
        { role: 'summary', parts: [text('They work on the basket.')], keeps: 'm2', ending: COMPLETE, model: MODEL },
        answer([text('Going on.')]),
      ),
    ),
  ],
};

function running(parts: readonly Part[]): Partial<Message> {
  return { role: 'assistant', parts, model: MODEL };
}

/** A small red picture. */
function pixel(): string {
  return 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
}

/** A conversation that is longer than the screen. */
export function longHistory(messages = 400): readonly ToPage[] {
  const said = Array.from({ length: messages }, (_, index) =>
    index % 2
      ? answer([text(`Answer **${index}** with \`code\`:\n\n\`\`\`ts\nconst a = ${index};\n\`\`\``)])
      : user(`Question ${index}`),
  );
  return [MODEL_SET, snapshot(transcriptOf(...said))];
}
