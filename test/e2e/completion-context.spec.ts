import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../host/wait-until.ts';
import { type CompletionHarness, clear, startCompletionHarness } from './completion-harness.ts';

const HANGING = {
  publisher: 'test',
  name: 'hanging-language',
  displayName: 'Hanging language',
  main: join(import.meta.dirname, 'hanging-language.cjs'),
  contributes: { languages: [{ id: 'toy', extensions: ['.toy'] }] },
};

const SHAPES = `export class Shape {
  private hidden = 1;
  area(scale: number): number {
    return scale * secretOfTheBody;
  }
}
`;
const FACTORY = `import { Shape } from './shapes';
export const create = () => new Shape();
`;
const USER = `import { create } from './factory';
export function sum(): number {
  const shape = create();
  `;

describe('context of completions in a real editor', () => {
  let at: CompletionHarness;

  before(async () => {
    at = await startCompletionHarness({ otherExtensions: [HANGING] });
    mkdirSync(join(at.vscode.workspace, 'shapes'));
    writeFileSync(join(at.vscode.workspace, 'shapes', 'shapes.ts'), SHAPES);
    writeFileSync(join(at.vscode.workspace, 'shapes', 'factory.ts'), FACTORY);
    writeFileSync(join(at.vscode.workspace, 'tsconfig.json'), '{ "include": ["shapes"] }');
  });
  after(() => at?.close());
  afterEach(() => clear(at));

  const prompts = () => at.completionRequests().map(({ body }) => `${body.prompt}`);

  /** Types until a request has what is expected: a language server may still be loading. */
  async function typeUntil(expected: string): Promise<string> {
    const isSent = () => prompts().find((prompt) => prompt.includes(expected));
    await waitUntil(
      `a request with ${expected}`,
      async () => {
        await at.type('x + ');
        return isSent() ?? prompts();
      },
      () => isSent() !== undefined,
    );
    return isSent() ?? '';
  }

  it('context: has the members of a type that is not imported, without bodies, from TypeScript', async () => {
    at.answer = ['¤'];
    await at.edit('shapes/user.ts', USER);
    const prompt = await typeUntil('area(scale: number): number');
    for (const absent of ['secretOfTheBody', 'hidden']) {
      if (prompt.includes(absent)) throw new Error(`The prompt has ${absent}:\n${prompt}`);
    }
  });

  it('context: has the signature of the call at the cursor, from TypeScript', async () => {
    at.answer = ['¤'];
    await at.edit('shapes/call.ts', 'const one = 1;\nconst copy = structuredClone(one, ');
    await typeUntil('+++++ Expected: shapes/call.ts\nstructuredClone(value');
  });

  it('context: a language server that hangs or is wrong delays nothing, and visited files count', async () => {
    at.answer = ['helper();'];
    await at.edit('helper.toy', 'let helper = 1\n');
    await at.edit('user.toy', 'let user = helper\nlet other = ');
    await at.type('1 + ');
    await at.shows('helper();');
    await typeUntil('+++++ helper.toy\nlet helper = 1');
  });
});
