import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import { hash } from '../bench/typist/oracle.ts';
import { Person } from './editor-harness.ts';

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

/** A person in FILE from a line on, and a model that continues it, wrongly at some places. */
function writer(wrongPercent: number): Person {
  const start = FILE.indexOf('export function total');
  const person = new Person(`${FILE.slice(0, start)}|`);
  person.answers = (fimRequest) => {
    const offset = FILE.indexOf(fimRequest.prefix.slice(-20)) + 20;
    if (offset < 20 || hash(`${offset}`) % 100 < wrongPercent) return ['const wrong = guess();\n', 'return wrong;'];
    return (
      FILE.slice(offset)
        .trimEnd()
        .match(/[\s\S]{1,9}/gu) ?? []
    );
  };
  return person;
}

function nextOf(person: Person): string {
  const rest = FILE.slice(person.paper.before.length);
  return String.fromCodePoint(rest.codePointAt(0) ?? 32);
}

describe('whatever a person does at the keyboard', () => {
  it('what is on screen never changes under them: it shrinks as it is typed and grows at its end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { minLength: 5, maxLength: 40 }),
        fc.constantFrom(0, 15, 40),
        async (acts, wrong) => {
          const person = writer(wrong);
          const seen: { ghost: string; before: string }[] = [];
          /** Every state of the screen, checked against the one before. */
          const look = (): void => {
            const last = seen.at(-1);
            const ghost = person.ghost ?? '';
            const { before } = person.paper;
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
          person.suggester.onDidGrow(look);
          for (const one of acts) {
            if (one.do === 'type') {
              for (let i = 0; i < one.count; i++) {
                person.edit(nextOf(person));
                look();
                await person.clock.pass(70);
                look();
              }
            } else if (one.do === 'typo') person.edit(one.text);
            else if (one.do === 'delete') {
              for (let i = 0; i < one.count && person.paper.before.length > 40; i++) {
                forget();
                const pair = /[\ud800-\udbff][\udc00-\udfff]$/.test(person.paper.before);
                person.edit('', { deleted: pair ? 2 : 1 });
              }
            } else if (one.do === 'accept') {
              forget();
              person.accept();
            } else if (one.do === 'word') {
              const word = /^\s*\S+/u.exec(person.ghost ?? '')?.[0];
              if (word !== undefined) person.edit(word);
            } else if (one.do === 'dismiss') {
              forget();
              person.suggester.dismissed();
              person.visible = [];
            } else if (one.do === 'invoke') {
              // While it waits for an alternative nothing is taken from the screen: the editor keeps what it shows.
              const shown = person.visible;
              person.ask({ trigger: 'invoke' });
              if (person.visible.length === 0) person.visible = shown;
            } else await person.clock.pass(one.ms);
            look();
          }
          person.suggester.dispose();
        },
      ),
      { numRuns: 150 },
    );
  });

  it('what was dismissed stays away while they go on typing or deleting a little there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 7 }), async (skip, more) => {
        const person = writer(0);
        person.paper.before += FILE.slice(person.paper.before.length, person.paper.before.length + skip);
        person.ask();
        await person.clock.pass(3_000);
        if (person.ghost === undefined) return;
        person.suggester.dismissed();
        person.visible = [];
        const asked = person.asked.length;
        for (let i = 0; i < more && nextOf(person) !== '\n'; i++) {
          person.edit(nextOf(person));
          assert.equal(person.ghost, undefined);
        }
        await person.clock.pass(2_000);
        assert.equal(person.ghost, undefined);
        assert.equal(person.asked.length, asked);
        person.ask({ trigger: 'invoke' });
        await person.clock.pass(5_000);
        assert.notEqual(person.ghost, undefined);
        person.suggester.dispose();
      }),
      { numRuns: 60 },
    );
  });

  it('one request serves every key that agrees with its answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 20, max: 200 }),
        fc.integer({ min: 30, max: 400 }),
        async (keys, firstTextMs) => {
          const person = writer(0);
          person.settings = { ...person.settings, maxLines: 40 };
          person.firstTextMs = firstTextMs;
          person.ask();
          for (let i = 0; i < keys; i++) {
            await person.clock.pass(60);
            person.edit(nextOf(person));
          }
          assert.equal(person.asked.length, 1);
          person.suggester.dispose();
        },
      ),
      { numRuns: 40 },
    );
  });

  it('sends no storm while the server refuses, whatever the reason', async () => {
    const statuses = [
      [401, 'authentication_required'],
      [402, 'insufficient_credits'],
      [403, 'model_not_allowed'],
      [429, 'rate_limit_exceeded'],
      [503, 'temporarily_unavailable'],
    ] as const;
    for (const [status, errorType] of statuses) {
      const person = writer(0);
      const retryable = status === 429 || status === 503;
      const init = { status, errorType, message: 'No.', retryable, ...(retryable ? { retryAfterMs: 60_000 } : {}) };
      person.answers = () => new SvcError(init);
      person.ask();
      for (let i = 0; i < 200; i++) {
        await person.clock.pass(140);
        person.edit(nextOf(person));
      }
      assert.equal(person.asked.length, 1, `${status}`);
      const { state } = person.suggester;
      assert.ok(state.kind === 'problem' && state.error.status === status && state.needsUser === !retryable);
      await person.clock.pass(60_000);
      await person.type('ab', 400);
      assert.equal(person.asked.length, 2, `${status}: one probe`);
      person.suggester.dispose();
    }
  });
});
