import assert from 'node:assert/strict';
import fc from 'fast-check';
import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import type { AssistantPart, Conversation, UserPart } from '../../src/wire/conversation.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { repairBody } from '../../src/wire/tools/body-repair.ts';
import {
  ANTHROPIC_IDS,
  MISTRAL_IDS,
  normalizeIds,
  OPENAI_CHAT_IDS,
  PLACEHOLDER_RESULT,
  RESPONSES_IDS,
  repairConversation,
} from '../../src/wire/tools/tool-call-repair.ts';

/** A history in shorthand: `u` a user message, `a:x,y` calls x and y, `r:x` a result. `x~2` is x with the argument 2. */
function history(format: FormatName, steps: string): JsonObject {
  const items = steps.split(' ').flatMap((step) => {
    const [kind = '', list = ''] = step.split(':');
    return writers[format](kind, list === '' ? [] : list.split(','));
  });
  return { model: 'm', [format === 'responses' ? 'input' : 'messages']: items, custom_field: { kept: true } };
}

const idOf = (text: string): string => text.replace(/~.*$/, '');
const inputOf = (text: string): JsonObject => (text.includes('~') ? { n: text.replace(/^.*~/, '') } : {});

const writers: Record<FormatName, (kind: string, ids: string[]) => JsonObject[]> = {
  'chat-completions': (kind, ids) => {
    if (kind === 'r') return ids.map((id) => ({ role: 'tool', tool_call_id: idOf(id), content: `result ${id}` }));
    if (kind === 'u') return [{ role: 'user', content: 'word' }];
    const tool_calls = ids.map((id) => ({
      id: idOf(id),
      type: 'function',
      function: { name: 'f', arguments: JSON.stringify(inputOf(id)) },
    }));
    return [{ role: 'assistant', content: 'said', ...(ids.length > 0 ? { tool_calls } : {}) }];
  },
  messages: (kind, ids) => {
    if (kind === 'u') return [{ role: 'user', content: 'word' }];
    if (kind === 'r') {
      return [
        {
          role: 'user',
          content: ids.map((id) => ({ type: 'tool_result', tool_use_id: idOf(id), content: `result ${id}` })),
        },
      ];
    }
    const calls = ids.map((id) => ({ type: 'tool_use', id: idOf(id), name: 'f', input: inputOf(id) }));
    return [{ role: 'assistant', content: [{ type: 'text', text: 'said' }, ...calls] }];
  },
  responses: (kind, ids) => {
    if (kind === 'u') return [{ role: 'user', content: 'word' }];
    if (kind === 'r')
      return ids.map((id) => ({ type: 'function_call_output', call_id: idOf(id), output: `result ${id}` }));
    const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'said' }] };
    const input = (id: string): string => JSON.stringify(inputOf(id));
    return [said, ...ids.map((id) => ({ type: 'function_call', call_id: idOf(id), name: 'f', arguments: input(id) }))];
  },
};

/** The same shorthand, read back: `p` for a placeholder. */
function shorthand(format: FormatName, body: JsonObject): string {
  const items = arrayOrEmpty(format === 'responses' ? body.input : body.messages).map(objectOrEmpty);
  const steps: string[] = [];
  const result = (id: unknown, content: unknown): string => `${content === PLACEHOLDER_RESULT ? 'p' : 'r'}:${id}`;
  for (const item of items) {
    if (item.role === 'tool') steps.push(result(item.tool_call_id, item.content));
    else if (item.type === 'function_call_output') steps.push(result(item.call_id, item.output));
    else if (item.type === 'function_call') steps.push(`c:${item.call_id}`);
    else if (item.role === 'user' && typeof item.content === 'string') steps.push('u');
    else if (item.role === 'user') {
      for (const block of arrayOrEmpty(item.content).map(objectOrEmpty)) {
        steps.push(block.type === 'tool_result' ? result(block.tool_use_id, block.content) : 'u');
      }
    } else {
      steps.push('a');
      for (const call of arrayOrEmpty(item.tool_calls).map(objectOrEmpty)) steps.push(`c:${call.id}`);
      for (const block of arrayOrEmpty(item.content).map(objectOrEmpty))
        if (block.type === 'tool_use') steps.push(`c:${block.id}`);
    }
  }
  return steps.join(' ');
}

type Part = AssistantPart | UserPart;

const NAMES: readonly FormatName[] = ['chat-completions', 'responses', 'messages'];

const cases: Record<string, [history: string, repaired: string]> = {
  'a call twice in one turn': ['u a:x,x r:x', 'u a c:x r:x'],
  'a result without a call': ['u r:z a:x r:x', 'u a c:x r:x'],
  'a second result': ['u a:x r:x r:x', 'u a c:x r:x'],
  'a call without a result at the end': ['u a:x', 'u a c:x p:x'],
  'a call without a result before a word': ['u a:x u', 'u a c:x p:x u'],
  'one of two calls without a result: the placeholder comes first': ['u a:x,y r:x', 'u a c:x c:y p:y r:x'],
  'a result in the turn before its call': ['u r:x a:x', 'u a c:x p:x'],
  'a result after the next assistant turn': ['u a:x,y r:x a u r:y', 'u a c:x c:y p:y r:x a u'],
  'an id without a result that is used again later': ['u a:x u a:x r:x', 'u a c:x p:x u a c:x r:x'],
  'all faults in one history': [
    'u a:1,1 r:1,1 r:9 a:3 u a:4,3 r:2 a r:3 u',
    'u a c:1 r:1 a c:3 p:3 u a c:4 c:3 p:4 p:3 a u',
  ],
  'the same id in two turns is two calls': ['u a:x r:x a:x r:x u', ''],
};

const RULES = [
  [ANTHROPIC_IDS, 'call.1:a'],
  [MISTRAL_IDS, 'call_1-ab'],
  [RESPONSES_IDS, 'c'.repeat(65)],
  [OPENAI_CHAT_IDS, 'c'.repeat(41)],
] as const;

/** The ids of calls and results in order. */
function writtenIds(body: JsonObject): string[] {
  const found = JSON.stringify(body).matchAll(/"(?:id|tool_call_id|tool_use_id|call_id)":"([^"]+)"/g);
  return [...found].map(([, id = '']) => id);
}

describe('tool-call repair on a body (spec 4.2)', () => {
  for (const format of NAMES) {
    for (const [name, [given, repaired]] of Object.entries(cases)) {
      it(`tool-call repair: ${format}: ${name}`, () => {
        const body = history(format, given);
        const { body: result, changes } = repairBody(format, body);
        if (repaired === '') assert.equal(result, body);
        else {
          assert.equal(shorthand(format, result), repaired);
          assert.ok(changes.length > 0);
          assert.deepEqual(result.custom_field, { kept: true });
        }
      });
    }

    it(`tool-call repair: ${format}: a valid history is the same object`, () => {
      const body = history(format, 'u a u a:x,y r:x,y a:z r:z u');
      const before = JSON.stringify(body);
      assert.equal(repairBody(format, body, { ids: OPENAI_CHAT_IDS }).body, body);
      assert.equal(JSON.stringify(body), before);
    });

    it(`tool-call repair: ${format}: for any history, repaired calls and results match, and a second repair changes nothing`, () => {
      const id = fc.constantFrom('x', 'y', 'z');
      const step = fc.oneof(
        fc.constant('u'),
        fc.array(id, { maxLength: 3 }).map((ids) => `a${ids.length > 0 ? ':' : ''}${ids.join(',')}`),
        id.map((one) => `r:${one}`),
      );
      fc.assert(
        fc.property(fc.array(step, { minLength: 1, maxLength: 10 }), (steps) => {
          const { body } = repairBody(format, history(format, steps.join(' ')));
          assert.equal(repairBody(format, body).body, body);
          const open: string[] = [];
          for (const [kind, one = ''] of shorthand(format, body)
            .split(' ')
            .map((text) => text.split(':'))) {
            if (kind === 'c') open.push(one);
            if (kind === 'r' || kind === 'p') {
              assert.ok(open.includes(one), `result of ${one} without a call in ${steps}`);
              open.splice(open.indexOf(one), 1);
            }
          }
          assert.deepEqual(open, [], `calls without a result in ${steps}`);
        }),
      );
    });

    it(`tool-call repair: ${format}: does not change values that are not a history`, () => {
      for (const value of [undefined, null, 'text', 5, [null, 1, 'x', { role: 'user' }]]) {
        const body = { messages: value, input: value };
        assert.equal(repairBody(format, body, { ids: MISTRAL_IDS }).body, body);
      }
    });

    it(`tool-call repair: ${format}: ids are made valid for Anthropic, Mistral and OpenAI, and pairs still match`, () => {
      for (const [rule, bad] of RULES) {
        const { body } = repairBody(format, history(format, `u a:${bad} r:${bad} a:${bad} r:${bad}`), { ids: rule });
        const [first, second, third, fourth] = writtenIds(body);
        assert.ok(first !== undefined && third !== undefined);
        assert.deepEqual([second, fourth], [first, third]);
        assert.equal(first !== third, rule.unique === true);
        for (const id of [first, third]) assert.match(id, rule.valid);
        assert.equal(repairBody(format, body, { ids: rule }).body, body);
      }
    });

    it(`tool-call repair: ${format}: an id of two turns becomes two ids where the vendor demands it, the same in each request`, () => {
      for (const [rule] of RULES) {
        const before = history(format, 'u a:call_0,b r:b,call_0 u a:call_0 r:call_0');
        const after = history(format, 'u a:call_0,b r:b,call_0 u a:call_0 r:call_0 a:call_0 r:call_0');
        const ids = writtenIds(repairBody(format, before, { ids: rule }).body);
        assert.deepEqual(writtenIds(repairBody(format, after, { ids: rule }).body).slice(0, ids.length), ids);
        assert.deepEqual(ids.slice(0, 2), [ids[3], ids[2]]);
        assert.equal(ids[4], ids[5]);
        assert.equal(ids[4] !== ids[0], rule.unique === true);
        const conversation = normalizeIds(FORMATS[format].readRequest(before), rule);
        assert.deepEqual(writtenIds(FORMATS[format].writeRequest(conversation)), ids);
      }
    });
  }

  it('Responses repair: items of the vendor’s own tools do not split an answer into two turns', () => {
    for (const middle of ['web_search_call', 'mcp_call', 'tool_search_output', 'program']) {
      const [first, second] = writers.responses('a', ['x', 'y']).slice(1);
      const input = [first, { type: middle, id: 'i' }, second, ...writers.responses('r', ['x', 'y'])];
      const body = { model: 'm', input };
      assert.equal(repairBody('responses', body).body, body, middle);
    }
  });

  it('Responses repair: a result that may belong to a referenced item is kept', () => {
    const input = [{ type: 'item_reference', id: 'fc_1' }, ...writers.responses('r', ['x'])];
    const body = { model: 'm', input };
    assert.equal(repairBody('responses', body).body, body);
  });

  it('Responses repair: custom tool calls are repaired with results of their own type', () => {
    const input = [
      { type: 'custom_tool_call', call_id: 'x', name: 'apply_patch', input: 'text' },
      { type: 'custom_tool_call', call_id: 'x', name: 'apply_patch', input: 'text' },
      { type: 'custom_tool_call_output', call_id: 'z', output: 'orphan' },
    ];
    assert.deepEqual(repairBody('responses', { model: 'm', input }).body.input, [
      input[0],
      { type: 'custom_tool_call_output', call_id: 'x', output: PLACEHOLDER_RESULT },
    ]);
  });
});

describe('tool-call repair on a conversation', () => {
  for (const format of NAMES) {
    for (const [name, [given, repaired]] of Object.entries(cases)) {
      it(`tool-call repair: read from ${format}: ${name}`, () => {
        const conversation = FORMATS[format].readRequest(history(format, given));
        const result = repairConversation(conversation);
        if (repaired === '') assert.equal(result, conversation);
        else assert.equal(shorthand('chat-completions', FORMATS['chat-completions'].writeRequest(result)), repaired);
      });
    }
  }

  /** Histories in which calls of a turn share an id, and the arguments of the calls that stay. */
  const SHARED: readonly (readonly [history: string, calls: string])[] = [
    ['u a:x~1,x~2 r:x~1,x~2', '1 2'],
    ['u a:x~1,x~2,x~3 r:x~1,x~2,x~3 u', '1 2 3'],
    ['u a:y,x~1,x~2 r:y,x~1 r:x~2 a:x~1 r:x~1', '1 2 1'],
    ['u a:x~1,x~1,x~2 r:x~1,x~2', '1 2'],
    // The client has kept one result only, so the second call was not run.
    ['u a:x~1,x~2 r:x~1 u', '1'],
  ];
  for (const format of NAMES) {
    it(`tool-call repair: ${format}: different calls with one id and a result each are two calls`, () => {
      for (const [given, calls] of SHARED) {
        const pairs = (conversation: Conversation): string[] => {
          const parts = conversation.turns.flatMap((turn): Part[] => (turn.role === 'system' ? [] : [...turn.parts]));
          const results = new Map(
            parts.flatMap((part) => (part.type === 'tool-result' ? [[part.id, JSON.stringify(part.content)]] : [])),
          );
          return parts.flatMap((part) => {
            const [, n] = part.type === 'tool-call' ? (/"n":"(.)"/.exec(part.arguments) ?? []) : [];
            if (part.type !== 'tool-call' || n === undefined) return [];
            assert.match(results.get(part.id) ?? '', new RegExp(`result x~${n}`), given);
            return n;
          });
        };
        const read = FORMATS[format].readRequest(history(format, given));
        assert.equal(pairs(repairConversation(read)).join(' '), calls, given);
        assert.equal(pairs(normalizeIds(repairConversation(read), MISTRAL_IDS)).join(' '), calls, given);
        for (const ids of [undefined, MISTRAL_IDS, ANTHROPIC_IDS]) {
          const { body } = repairBody(format, history(format, given), ids && { ids });
          assert.equal(pairs(FORMATS[format].readRequest(body)).join(' '), calls, given);
          assert.equal(repairBody(format, body, ids && { ids }).body, body, given);
        }
      }
    });
  }

  it('normalizeIds: replaces an invalid id by a hash of the whole id', () => {
    const conversation = FORMATS['chat-completions'].readRequest(
      history('chat-completions', 'u a:call_1,call_2 r:call_1,call_2'),
    );
    const ids = (rule: typeof MISTRAL_IDS): string[] =>
      normalizeIds(conversation, rule).turns.flatMap((turn) =>
        turn.parts.flatMap((part) => ('id' in part ? [part.id] : [])),
      );
    assert.deepEqual(ids(ANTHROPIC_IDS), ['call_1', 'call_2', 'call_1', 'call_2']);
    const [first, second, third, fourth] = ids(MISTRAL_IDS);
    assert.match(first ?? '', MISTRAL_IDS.valid);
    assert.deepEqual([first, second], [third, fourth]);
    assert.notEqual(first, second);
  });
});
