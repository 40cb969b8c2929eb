import { estimateTranscript } from '../../src/gateway/accounting/transcript-usage.ts';
import { mustBeRewritten, refuseOtherModels } from '../../src/gateway/dispatch/model-fields.ts';
import { countAnswerCharacters, readAnswerModel } from '../../src/gateway/relay/answer-facts.ts';
import { countText } from '../../src/gateway/relay/streamed-text.ts';
import { assertLinear } from '../linear-time.ts';

const text = (unit: string) => (size: number) => Buffer.from(unit.repeat(size));
const answer = (size: number) =>
  Buffer.from(JSON.stringify({ model: 'm', choices: [{ index: 0, message: { content: '"model"\\'.repeat(size) } }] }));

describe('time of the usage estimate', () => {
  for (const [what, unit] of Object.entries({
    'short events': 'data: {"delta":{"content":"a"}}\n\n',
    'objects that never end': '"delta":{"a":[{"text":',
    'strings that never end': '"delta":"',
    escapes: '"delta":"\\\\\\"\\',
    'quotes alone': '"',
    'details in details': '"delta":{"reasoning_details":[{"reasoning_details":[',
  })) {
    it(`usage estimate: linear time in a stream: ${what}`, () => assertLinear(100_000, text(unit), countText));
  }

  it('usage estimate: linear time in a whole answer', () =>
    assertLinear(100_000, answer, (body) => [countAnswerCharacters('chat-completions', body), readAnswerModel(body)]));

  for (const [what, unit] of Object.entries({ cues: '00:01 --> 00:02.000\n', arrows: '-->', spaces: '-->        ' })) {
    it(`usage estimate: linear time in a transcript: ${what}`, () =>
      assertLinear(100_000, text(unit), (body) => estimateTranscript(body, 0, 1_000)));
  }
});

describe('time of the search for other models', () => {
  const many = (member: (index: number) => Record<string, unknown>) => (size: number) =>
    Object.assign({}, ...Array.from({ length: size }, (_, index) => member(index)));
  for (const [what, make] of Object.entries({
    members: many((index) => ({ [`a${index}`]: 1 })),
    tools: (size: number) => ({ tools: Array.from({ length: size }, () => ({ type: 'a', b: { c: [{}] } })) }),
    items: (size: number) => ({ input: Array.from({ length: size }, () => ({ tools: [{ type: 'function' }] })) }),
    nesting: (size: number) => {
      let value: Record<string, unknown> = {};
      for (let depth = 0; depth < size; depth += 1) value = { a: value };
      return { value };
    },
  })) {
    it(`search for other models: linear time: ${what}`, () =>
      assertLinear(20_000, make, (body) => {
        refuseOtherModels(body);
        mustBeRewritten('"tools"'.repeat(2), body);
      }));
  }
});
