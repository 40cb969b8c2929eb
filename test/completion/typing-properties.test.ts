import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import { hash } from '../bench/typist/oracle.ts';
import { EditorHarness } from './editor-harness.ts';

const FILE = `import { a } from './a.ts';

export function total(items: readonly Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
    if (sum > 1_000) break;
  }
  return sum;
}

/** 价格 für ein Objekt: שלום 👩‍👩‍👧 */
export function label(name: string): string {
  const parts = name.split('/').map((part) => part.trim());
  return \`\${parts.join(' · ')} é 👍\`;
}
`;

type Act =
  | { readonly do: 'type'; readonly count: number }
  | { readonly do: 'typo'; readonly text: string }
  | { readonly do: 'delete'; readonly count: number }
  | { readonly do: 'accept' }
  | { readonly do: 'word' }
  | { readonly do: 'dismiss' }
  | { readonly do: 'invoke' }
  | { readonly do: 'wait'; readonly ms: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('type' as const), count: fc.integer({ min: 1, max: 12 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('typo' as const), text: fc.constantFrom('q', 'zz', '(', '}', '👍') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), count: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 3, arbitrary: fc.constantFrom<Act>({ do: 'accept' }, { do: 'word' }, { do: 'invoke' }) },
  { weight: 1, arbitrary: fc.constant<Act>({ do: 'dismiss' }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 900 }) }) },
);

/** Text of an accepted suggestion is dismissed and then requested; found by chance. */
const INVOKED_AGAIN: Act[] = [
  { do: 'type', count: 4 },
  { do: 'accept' },
  { do: 'dismiss' },
  { do: 'invoke' },
  { do: 'wait', ms: 120 },
  { do: 'type', count: 1 },
  { do: 'accept' },
];

/** An editor with FILE up to a line, and a model that continues it, incorrectly at some positions. */
function writer(wrongPercent: number): EditorHarness {
  const start = FILE.indexOf('export function total');
  const editor = new EditorHarness(`${FILE.slice(0, start)}|`);
  editor.answers = (fimRequest) => {
    const offset = FILE.indexOf(fimRequest.prefix.slice(-20)) + 20;
    if (offset < 20 || hash(`${offset}`) % 100 < wrongPercent) return ['const wrong = guess();\n', 'return wrong;'];
    return (
      FILE.slice(offset)
        .trimEnd()
        .match(/[\s\S]{1,9}/gu) ?? []
    );
  };
  return editor;
}

function nextOf(editor: EditorHarness): string {
  const rest = FILE.slice(editor.file.before.length);
  return String.fromCodePoint(rest.codePointAt(0) ?? 32);
}

describe('typing properties', () => {
  it('typing: the visible text never changes, it only shrinks when typed and grows at its end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { minLength: 5, maxLength: 40 }),
        fc.constantFrom(0, 15, 40),
        async (acts, wrong) => {
          const editor = writer(wrong);
          const seen: { ghost: string; before: string }[] = [];
          /** Every state of the screen, checked against the one before. */
          const look = (): void => {
            const last = seen.at(-1);
            const ghost = editor.ghost ?? '';
            const { before } = editor.file;
            if (last !== undefined && last.ghost !== '' && before.startsWith(last.before)) {
              const typed = before.slice(last.before.length);
              if (last.ghost.startsWith(typed)) {
                const rest = last.ghost.slice(typed.length);
                if (rest !== '')
                  assert.ok(ghost.startsWith(rest), `${JSON.stringify(rest)} became ${JSON.stringify(ghost)}`);
              }
            }
            seen.push({ ghost, before });
          };
          const forget = (): void => {
            seen.length = 0;
          };
          editor.suggester.onDidGrow(look);
          for (const one of acts) {
            if (one.do === 'type') {
              for (let i = 0; i < one.count; i++) {
                editor.edit(nextOf(editor));
                look();
                await editor.clock.pass(70);
                look();
              }
            } else if (one.do === 'typo') editor.edit(one.text);
            else if (one.do === 'delete') {
              for (let i = 0; i < one.count && editor.file.before.length > 40; i++) {
                forget();
                const pair = /[\ud800-\udbff][\udc00-\udfff]$/.test(editor.file.before);
                editor.edit('', { deleted: pair ? 2 : 1 });
              }
            } else if (one.do === 'accept') {
              forget();
              editor.accept();
            } else if (one.do === 'word') {
              const word = /^\s*\S+/u.exec(editor.ghost ?? '')?.[0];
              if (word !== undefined) editor.edit(word);
            } else if (one.do === 'dismiss') {
              forget();
              editor.suggester.dismissed();
              editor.visible = [];
            } else if (one.do === 'invoke') {
              // While the editor waits for an alternative, it keeps the visible suggestion.
              const shown = editor.visible;
              editor.requestSuggestion({ trigger: 'invoke' });
              if (editor.visible.length === 0) editor.visible = shown;
            } else await editor.clock.pass(one.ms);
            look();
          }
          editor.suggester.dispose();
        },
      ),
      { numRuns: 150, examples: [[INVOKED_AGAIN, 0]] },
    );
  });

  it('typing: a dismissed suggestion remains hidden during small edits at its position', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 7 }), async (skip, more) => {
        const editor = writer(0);
        editor.file.before += FILE.slice(editor.file.before.length, editor.file.before.length + skip);
        editor.requestSuggestion();
        await editor.clock.pass(3_000);
        if (editor.ghost === undefined) return;
        editor.suggester.dismissed();
        editor.visible = [];
        const asked = editor.requests.length;
        for (let i = 0; i < more && nextOf(editor) !== '\n'; i++) {
          editor.edit(nextOf(editor));
          assert.equal(editor.ghost, undefined);
        }
        await editor.clock.pass(2_000);
        assert.equal(editor.ghost, undefined);
        assert.equal(editor.requests.length, asked);
        editor.requestSuggestion({ trigger: 'invoke' });
        await editor.clock.pass(5_000);
        assert.notEqual(editor.ghost, undefined);
        editor.suggester.dispose();
      }),
      { numRuns: 60 },
    );
  });

  it('typing: one request serves all keys that match its answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 20, max: 200 }),
        fc.integer({ min: 30, max: 400 }),
        async (keys, firstTextMs) => {
          const editor = writer(0);
          editor.settings = { ...editor.settings, maxLines: 40 };
          editor.firstTextMs = firstTextMs;
          editor.requestSuggestion();
          for (let i = 0; i < keys; i++) {
            await editor.clock.pass(60);
            editor.edit(nextOf(editor));
          }
          assert.equal(editor.requests.length, 1);
          editor.suggester.dispose();
        },
      ),
      { numRuns: 40 },
    );
  });

  it('typing: few requests are sent while the server refuses them, for any reason', async () => {
    const statuses = [
      [401, 'authentication_required'],
      [402, 'insufficient_credits'],
      [403, 'model_not_allowed'],
      [429, 'rate_limit_exceeded'],
      [503, 'temporarily_unavailable'],
    ] as const;
    for (const [status, errorType] of statuses) {
      const editor = writer(0);
      const retryable = status === 429 || status === 503;
      const init = { status, errorType, message: 'No.', retryable, ...(retryable ? { retryAfterMs: 60_000 } : {}) };
      editor.answers = () => new SvcError(init);
      editor.requestSuggestion();
      for (let i = 0; i < 200; i++) {
        await editor.clock.pass(140);
        editor.edit(nextOf(editor));
      }
      assert.equal(editor.requests.length, 1, `${status}`);
      const { state } = editor.suggester;
      assert.ok(state.kind === 'problem' && state.error.status === status && state.needsUser === !retryable);
      await editor.clock.pass(60_000);
      await editor.type('ab', 400);
      assert.equal(editor.requests.length, 2, `${status}: one probe`);
      editor.suggester.dispose();
    }
  });
});
