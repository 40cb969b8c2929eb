import assert from 'node:assert/strict';
import fc from 'fast-check';
import { chatCompletions } from '../../src/wire/chat-completions/format.ts';
import type { Tool } from '../../src/wire/conversation.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { withReasoningTags } from '../../src/wire/reasoning-tags.ts';
import { TextCallSplitter, withTextCalls } from '../../src/wire/tools/text-calls.ts';
import { assertLinear } from '../linear-time.ts';

const TOOLS: readonly Tool[] = [
  {
    name: 'read_file',
    parameters: {
      type: 'object',
      properties: { path: { type: 'string' }, line: { type: 'integer' }, all: { type: 'boolean' } },
    },
  },
  {
    name: 'write',
    parameters: { type: 'object', properties: { path: { type: 'string' }, content: { type: 'string' } } },
  },
  { name: 'get_problems', parameters: { type: 'object', properties: {} } },
];

const A = { name: 'read_file', arguments: '{"path":"src/a.ts"}' };
const B = { name: 'read_file', arguments: '{"path":"b.ts","line":3}' };
const JSON_A = '{"name": "read_file", "arguments": {"path": "src/a.ts"}}';
const JSON_B = '{"name": "read_file", "arguments": {"path": "b.ts", "line": 3}}';
const CODE = 'const tag = "</parameter>";\nif (a < b) {\n  run("<tool_call>");\n}';

type Calls = readonly { readonly name: string; readonly arguments: string }[];
type Case = readonly [name: string, text: string, calls: Calls, before?: string];

/** Outputs as models write them, from the threads that docs/formats.md names. */
const CASES: readonly Case[] = [
  ['Hermes', `<tool_call>\n${JSON_A}\n</tool_call>`, [A]],
  ['Hermes after a sentence', `I'll read it.\n\n<tool_call>\n${JSON_A}\n</tool_call>\n`, [A], "I'll read it."],
  ['Hermes after a sentence on its line', `I'll read it. <tool_call>${JSON_A}</tool_call>`, [A], "I'll read it."],
  ['Hermes after a colon', `Let me read the file:\n<tool_call>${JSON_A}</tool_call>`, [A], 'Let me read the file:'],
  ['Hermes, two', `<tool_call>\n${JSON_A}\n</tool_call>\n<tool_call>\n${JSON_B}\n</tool_call>`, [A, B]],
  ['Hermes, two in one tag', `<tool_call>\n${JSON_A}\n${JSON_B}\n</tool_call>`, [A, B]],
  ['Hermes without the closing tag', `<tool_call>\n${JSON_A}`, [A]],
  ['Hermes without the opening tag', `${JSON_A}\n</tool_call>`, [A]],
  ['Hermes with the token of its end', `<tool_call>${JSON_A}</tool_call><|im_end|>`, [A]],
  [
    'Hermes with arguments as text',
    '<tool_call>{"name":"read_file","arguments":"{\\"path\\":\\"src/a.ts\\"}"}</tool_call>',
    [A],
  ],
  [
    'Hermes with the arguments first',
    '<tool_call>{"arguments": {"path": "src/a.ts"}, "name": "read_file"}</tool_call>',
    [A],
  ],
  [
    'Hermes with a line break in a text',
    '<tool_call>{"name":"write","arguments":{"path":"a","content":"x\ny"}}</tool_call>',
    [{ name: 'write', arguments: '{"path":"a","content":"x\\ny"}' }],
  ],
  [
    'Qwen3-Coder',
    '<tool_call>\n<function=read_file>\n<parameter=path>\nsrc/a.ts\n</parameter>\n</function>\n</tool_call>',
    [A],
  ],
  [
    'Qwen3-Coder without the opening tag',
    '<function=read_file>\n<parameter=path>\nsrc/a.ts\n</parameter>\n</function>\n</tool_call>',
    [A],
  ],
  [
    'Qwen3-Coder with types of the schema',
    '<tool_call>\n<function=read_file>\n<parameter=path>\nb.ts\n</parameter>\n<parameter=line>\n3\n</parameter>\n</function>\n</tool_call>',
    [B],
  ],
  [
    'Qwen3-Coder with code that has such tags',
    `<function=write>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n${CODE}\n</parameter>\n</function>\n</tool_call>`,
    [{ name: 'write', arguments: JSON.stringify({ path: 'a', content: CODE }) }],
  ],
  [
    'Qwen3-Coder without arguments',
    '<tool_call>\n<function=get_problems>\n</function>\n</tool_call>',
    [{ name: 'get_problems', arguments: '{}' }],
  ],
  [
    'Qwen3-Coder without </parameter>',
    '<tool_call>\n<function=read_file>\n<parameter=path>\nb.ts\n<parameter=line>\n3\n</function>\n</tool_call>',
    [B],
  ],
  [
    'Qwen3-Coder without </function>',
    'I read it.\n<tool_call>\n<function=read_file>\n<parameter=path>\nsrc/a.ts\n</parameter>\n</tool_call>',
    [A],
    'I read it.',
  ],
  ['Qwen3-Coder without either', '<tool_call>\n<function=read_file>\n<parameter=path>\nsrc/a.ts\n</tool_call>', [A]],
  ['Hermes with a brace too many', `<tool_call>\n${JSON_A}}\n</tool_call>`, [A]],
  ['Hermes with a brace too few', `<tool_call>\n${JSON_A.slice(0, -1)}\n</tool_call>`, [A]],
  ['Qwen2.5-Coder in its tag', `<tools>\n${JSON_A}\n</tools>`, [A]],
  ['Qwen2.5-Coder in its tag, a list', `<tools>\n[${JSON_A}, ${JSON_B}]\n</tools>`, [A, B]],
  ['Gemma 4', '<|tool_call>call:read_file{path:<|"|>src/a.ts<|"|>}<tool_call|>', [A]],
  [
    'Gemma 4, two',
    '<|tool_call>call:read_file{path:<|"|>src/a.ts<|"|>}<tool_call|><|tool_call>call:read_file{path:<|"|>b.ts<|"|>,line:3}<tool_call|>',
    [A, B],
  ],
  [
    'Gemma 4 without arguments',
    '<|tool_call>call:get_problems{}<tool_call|>',
    [{ name: 'get_problems', arguments: '{}' }],
  ],
  [
    'Gemma 4 with code',
    '<|tool_call>call:write{content:<|"|>f({a:1});\n"x"<|"|>,path:<|"|>a<|"|>}<tool_call|>',
    [{ name: 'write', arguments: JSON.stringify({ content: 'f({a:1});\n"x"', path: 'a' }) }],
  ],
  ['LM Studio', `[TOOL_REQUEST]\n${JSON_A}\n[END_TOOL_REQUEST]`, [A]],
  [
    'Seed-OSS',
    '<seed:tool_call>\n<function=read_file>\n<parameter=path>src/a.ts</parameter>\n</function>\n</seed:tool_call>',
    [A],
  ],
  ['GLM, the whole message', `\n{\n  "tool_calls": [${JSON_A}],\n  "content": "I read it."\n}`, [A]],
  ['Qwen2.5-Coder, bare', JSON_A, [A]],
  ['Qwen2.5-Coder, in a fence', `\`\`\`json\n${JSON_A}\n\`\`\``, [A]],
  ['Qwen2.5-Coder, in a fence without a language', `\`\`\`\n${JSON_A}\n\`\`\`\n`, [A]],
  ['bare, two', `${JSON_A}\n${JSON_B}`, [A, B]],
  ['bare, a list', `[${JSON_A}, ${JSON_B}]`, [A, B]],
  [
    'bare, OpenAI’s form',
    '{"type":"function","function":{"name":"read_file","arguments":"{\\"path\\":\\"src/a.ts\\"}"}}',
    [A],
  ],
  ['Llama, bare', '{"name": "read_file", "parameters": {"path": "src/a.ts"}}', [A]],
  ['Llama', '<|python_tag|>{"name": "read_file", "parameters": {"path": "src/a.ts"}}<|eom_id|>', [A]],
  ['Llama, two', `<|python_tag|>${JSON_A}; ${JSON_B}`, [A, B]],
  ['Llama 3.1, custom', '<function=read_file>{"path": "src/a.ts"}</function>', [A]],
  ['Llama, as Python', '[read_file(path="src/a.ts")]', [A]],
  ['Llama, as Python, two', '[read_file(path=\'src/a.ts\'), read_file(path="b.ts", line=3)]<|eot_id|>', [A, B]],
  ['Llama, as Python, with its tag', '<|python_tag|>[read_file(path="src/a.ts")]<|eom_id|>', [A]],
  ['Llama, as Python, without the list', 'I read it.\n<|python_tag|>read_file(path="src/a.ts")', [A], 'I read it.'],
  ['Llama, one of its own tools', '<|python_tag|>read_file.call(path="src/a.ts")', [A]],
  ['Llama 4', '<|python_start|>[read_file(path="src/a.ts")]<|python_end|><|eom|>', [A]],
  ['Llama, as Python, without arguments', '[get_problems()]', [{ name: 'get_problems', arguments: '{}' }]],
  [
    'Llama, as Python, with values of each kind',
    '[write(path=\'it\\\'s \\u00e9\', content="""a "b"\nc\\n""", a=[1, -2.5, True], b={\'c\': None, \'d\': (1,)})]',
    [
      {
        name: 'write',
        arguments: JSON.stringify({
          path: "it's é",
          content: 'a "b"\nc\n',
          a: [1, -2.5, true],
          b: { c: null, d: [1] },
        }),
      },
    ],
  ],
  [
    'Llama, as Python, with strings in parts, brackets and a long escape',
    '[write(path=("a"), content=("b\\n" \'c\'), a="\\U0001F600", b=())]',
    [{ name: 'write', arguments: JSON.stringify({ path: 'a', content: 'b\nc', a: '😀', b: [] }) }],
  ],
  [
    'Kimi, without the namespace',
    '<|tool_call_begin|>read_file:0<|tool_call_argument_begin|>{"path": "src/a.ts"}<|tool_call_end|>',
    [A],
  ],
  [
    'Kimi',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path": "src/a.ts"}<|tool_call_end|><|tool_calls_section_end|>',
    [A],
  ],
  [
    'Kimi, two, after a sentence',
    'I read both. <|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path": "src/a.ts"}<|tool_call_end|><|tool_call_begin|>functions.read_file:1<|tool_call_argument_begin|>{"path":"b.ts","line":3}<|tool_call_end|><|tool_calls_section_end|><|im_end|>',
    [A, B],
    'I read both.',
  ],
  [
    'Kimi without the section',
    '<|tool_call_begin|>functions.read_file:12 <|tool_call_argument_begin|> {"path": "src/a.ts"} <|tool_call_end|>',
    [A],
  ],
  ['Mistral, a list', `[TOOL_CALLS][${JSON_A}]`, [A]],
  [
    'Mistral, a list with ids',
    '[TOOL_CALLS] [{"name": "read_file", "arguments": {"path": "src/a.ts"}, "id": "VvvODy9mT"}]</s>',
    [A],
  ],
  ['Mistral, since 2025', '[TOOL_CALLS]read_file{"path": "src/a.ts"}', [A]],
  ['Mistral, with [ARGS]', '[TOOL_CALLS]read_file[ARGS]{"path": "src/a.ts"}', [A]],
  ['Mistral, with an id', '[TOOL_CALLS]read_file[CALL_ID]a1b2c3d4e[ARGS]{"path": "src/a.ts"}', [A]],
  ['Mistral, two', '[TOOL_CALLS]read_file{"path": "src/a.ts"}[TOOL_CALLS]read_file{"path":"b.ts","line":3}', [A, B]],
  ['Mistral after a sentence', 'I read it.[TOOL_CALLS]read_file{"path": "src/a.ts"}', [A], 'I read it.'],
  [
    'DeepSeek-R1',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{"path": "src/a.ts"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [A],
  ],
  [
    'DeepSeek-V3.1, two',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{"path": "src/a.ts"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{"path":"b.ts","line":3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [A, B],
  ],
  [
    'DeepSeek-V3.2',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read_file">\n<｜DSML｜parameter name="path" string="true">src/a.ts</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    [A],
  ],
  [
    'MiniMax',
    '<minimax:tool_call>\n<invoke name="read_file">\n<parameter name="path">src/a.ts</parameter>\n</invoke>\n</minimax:tool_call>',
    [A],
  ],
  ['GLM', '<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>src/a.ts</arg_value>\n</tool_call>', [A]],
  [
    'GLM, on one line, with types of the schema',
    '<tool_call>read_file<arg_key>path</arg_key><arg_value>b.ts</arg_value><arg_key>line</arg_key><arg_value>3</arg_value></tool_call>',
    [B],
  ],
  ['GLM without arguments', '<tool_call>get_problems\n</tool_call>', [{ name: 'get_problems', arguments: '{}' }]],
  [
    'GLM without the opening tag',
    'read_file\n<arg_key>path</arg_key>\n<arg_value>src/a.ts</arg_value>\n</tool_call>',
    [A],
  ],
  ['Granite', `<|tool_call|>[${JSON_A}]`, [A]],
  ['Granite 3.3', `<tool_call>[${JSON_A}]`, [A]],
  ['Granite, an object', `<function_call> ${JSON_A}`, [A]],
  ['Phi-4-mini', `<|tool_call|>[${JSON_A}]<|/tool_call|>`, [A]],
  ['Phi-4-mini, functools', `functools[${JSON_A}]`, [A]],
  [
    'gpt-oss',
    '<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path":"src/a.ts"}<|call|>',
    [A],
  ],
  [
    'gpt-oss with the recipient before the channel',
    '<|start|>assistant to=functions.read_file<|channel|>commentary json<|message|>{"path":"src/a.ts"}<|call|>',
    [A],
  ],
  ['gpt-oss without its tokens', 'commentary to=functions.read_file json{"path":"src/a.ts"}', [A]],
  ['gpt-oss without its tokens, with a blank', 'assistantcommentary to=functions.read_file {"path":"src/a.ts"}', [A]],
  ['a name with its namespace', '{"name": "functions.read_file", "arguments": {"path": "src/a.ts"}}', [A]],
];

const TALK: readonly (readonly [name: string, text: string])[] = [
  ['prose behind', `<tool_call>${JSON_A}</tool_call>\nThis calls the tool.`],
  ['prose behind bare JSON', `${JSON_A}\n\nThis is how a call looks.`],
  ['prose before bare JSON', `The call is:\n${JSON_A}`],
  ['prose before a fence', `Here it is:\n\n\`\`\`json\n${JSON_A}\n\`\`\``],
  ['a fence with a tag', `\`\`\`\n<tool_call>${JSON_A}</tool_call>\n\`\`\``],
  ['a fence with a tag after prose', `Qwen writes this.\n\n\`\`\`xml\n<tool_call>\n${JSON_A}\n</tool_call>\n\`\`\``],
  ['a fence that is not closed', `See.\n~~~\n<tool_call>${JSON_A}</tool_call>`],
  ['backticks', `Use \`<tool_call>${JSON_A}</tool_call>\``],
  ['a quote', `> <tool_call>${JSON_A}</tool_call>`],
  ['indented code', `The text.\n\n    <tool_call>${JSON_A}</tool_call>`],
  ['a list', `- <tool_call>${JSON_A}</tool_call>`],
  ['a table', `| <tool_call>${JSON_A}</tool_call>`],
  ['in a sentence', `The model writes <tool_call>${JSON_A}</tool_call>`],
  ['an example', `For example:\n<tool_call>${JSON_A}</tool_call>`],
  ['documentation', `A model of this family would write the following text:\n\n<tool_call>${JSON_A}</tool_call>`],
  ['a tool that was not offered', '<tool_call>{"name": "delete_all", "arguments": {}}</tool_call>'],
  ['bare JSON with a tool that was not offered', '{"name": "delete_all", "arguments": {}}'],
  ['a list with one tool that was not offered', `[${JSON_A}, {"name": "x", "arguments": {}}]`],
  ['other JSON', '{"name": "Bob", "age": 3}'],
  ['other JSON in a fence', '```json\n{"type": "object"}\n```'],
  ['a list of numbers', '[1, 2, 3]'],
  ['an object without arguments', '{"name": "read_file"}'],
  ['arguments that are a list', '{"name": "read_file", "arguments": ["a"]}'],
  ['broken JSON', '<tool_call>{"name": "read_file", "arguments": {"path": }}</tool_call>'],
  ['cut JSON', '<tool_call>{"name": "read_file", "arguments": {"path": "sr'],
  ['cut JSON in braces', '<tool_call>{"name": "read_file", "arguments": {"path": "a"}'],
  ['a cut parameter', '<tool_call>\n<function=read_file>\n<parameter=path>\nsrc/a'],
  ['other JSON with calls', '{"tool_calls": [], "content": "a"}'],
  ['calls of other tools', '{"tool_calls": [{"name": "x", "arguments": {}}]}'],
  ['Gemma’s token in prose', '<|tool_call>call: a tool'],
  ['the tag of tools in prose', '<tools>\nare offered.'],
  ['a tag that does not begin a call', '<tool_call>\nis the tag.'],
  ['a tag for which code follows', '<function=read_file>\nvoid f();'],
  ['the name of a tool', 'read_file'],
  ['a sentence that begins with a tool', 'read_file reads a file.'],
  ['DeepSeek’s token in prose', 'DeepSeek sends <｜tool▁calls▁begin｜> first.'],
  ['Mistral’s token in prose', '[TOOL_CALLS] is a token.'],
  ['a list of Python', '[read_file(path) for path in paths]'],
  ['calls of Python by position', '[read_file("a.ts")]'],
  ['a call of Python with a variable', '[read_file(path=name)]'],
  ['a call of Python without its list', 'read_file(path="src/a.ts")'],
  ['a call of Python with a tool that was not offered', '[delete_all(path="a")]'],
  ['a call of Python after prose', 'The call is:\n[read_file(path="src/a.ts")]'],
  ['a call of Python in a fence', '```python\n[read_file(path="src/a.ts")]\n```'],
  ['a link with a call', '[read_file(path="a")](https://example.com)'],
  ['a cut call of Python', '[read_file(path="src/a.ts"'],
  ['the name of a tool in brackets', '[read_file]'],
  ['Kimi’s token in prose', '<|tool_calls_section_begin|> begins the calls.'],
  ['Kimi’s calls of other tools', '<|tool_call_begin|>functions.rm:0<|tool_call_argument_begin|>{}<|tool_call_end|>'],
  ['code', `const text = '<tool_call>${JSON_A}</tool_call>';`],
  ['the start of a tag', 'a\n<tool'],
  ['comparison', 'if a\n< b'],
  ['a heading', `# <tool_call>\n\nThe tag.`],
  ['blanks', ' \n '],
  ['a link', '[text](https://example.com)'],
  ['a channel without tokens in prose', 'commentary to=functions.read_file is a channel.'],
  ['a reasoning channel', '<|channel|>commentary<|message|>I think.'],
];

function split(pieces: readonly string[], mayCall = true) {
  const splitter = new TextCallSplitter(TOOLS);
  const shown = pieces.map((piece) => splitter.push(piece)).join('');
  const { text, calls } = splitter.end(mayCall);
  return { text: shown + text, calls };
}

describe('calls in the text of an answer', () => {
  for (const [name, text, calls, before = ''] of CASES) {
    it(`text calls: ${name}`, () => {
      const expected = { text: before, calls };
      assert.deepEqual(split([text]), expected);
      assert.deepEqual(split([...text]), expected);
      for (let at = 1; at < text.length; at++)
        assert.deepEqual(split([text.slice(0, at), text.slice(at)]), expected, `${at}`);
      // Cut off at the limit, it stays text.
      assert.deepEqual(split([text], false), { text, calls: [] });
    });
  }

  for (const [name, text] of TALK) {
    it(`text calls: stays text: ${name}`, () => {
      const expected = { text, calls: [] };
      assert.deepEqual(split([text]), expected);
      assert.deepEqual(split([...text]), expected);
    });
  }

  it('text calls: no call with prose behind it, and none cut before its end, is one', () => {
    for (const [name, text, calls] of CASES) {
      for (const more of ['\n\nThis is the call.', ' is what I would write']) {
        assert.deepEqual(split([...text, more]), { text: text + more, calls: [] }, name);
      }
      assert.notEqual(calls.length, 0);
    }
  });

  it('text calls: any text in any pieces stays the same or is calls, and is the same in one piece', () => {
    const token = fc.constantFrom(
      ...CASES.map(([, text]) => text),
      ...TALK.map(([, text]) => text),
      ...['\n', ' ', '```\n', '<tool_call>', '</tool_call>', '{"name":', '"read_file"', 'a. ', ',', '}', '<', '[', '`'],
    );
    fc.assert(
      fc.property(
        fc.array(token, { maxLength: 5 }),
        fc.array(fc.nat({ max: 40 }), { maxLength: 20 }),
        (tokens, cuts) => {
          const text = tokens.join('');
          const pieces: string[] = [];
          let at = 0;
          for (const length of cuts) {
            pieces.push(text.slice(at, at + length));
            at += length;
          }
          const whole = split([text]);
          assert.deepEqual(split([...pieces, text.slice(at)]), whole);
          if (whole.calls.length === 0) assert.equal(whole.text, text);
          else assert.ok(text.startsWith(whole.text));
        },
      ),
      { numRuns: 2000, seed: 20_261_125 },
    );
  });

  it('text calls: what can’t be a call is not held back', () => {
    for (const text of [
      'Hello',
      '{"b',
      '[1',
      '```ts\n',
      '{"name": "Bob"',
      '<div>',
      '<tool_call>{"name": "x"',
      '# Title',
    ]) {
      const splitter = new TextCallSplitter(TOOLS);
      assert.equal([...text].map((piece) => splitter.push(piece)).join(''), text.trimEnd());
    }
  });

  it('text calls: a long answer in small pieces takes linear time', async () => {
    for (const unit of [
      '<tool_call>',
      '<function=read_file>\n',
      'a.\n<tool_call>{"name":"read_file"\n',
      'word `<tool_call>` ',
      '{"name":"read_file",',
    ]) {
      await assertLinear(
        2000,
        (size) => unit.repeat(size),
        (text) => {
          const splitter = new TextCallSplitter(TOOLS);
          for (let at = 0; at < text.length; at += 16) splitter.push(text.slice(at, at + 16));
          splitter.end(true);
        },
      );
    }
  });

  it('text calls: a call with which the reasoning of an answer without text ends is one', () => {
    const format = withTextCalls(withReasoningTags(chatCompletions, 'no'), TOOLS);
    const call = `<tool_call>\n${JSON_A}\n</tool_call>`;
    const types = (message: object, finish = 'stop') =>
      foldEvents(format.readAnswer({ choices: [{ message, finish_reason: finish }] })).parts.map(({ type }) => type);
    const thought = `I should read it.\n\n${call}`;
    assert.deepEqual(types({ reasoning_content: thought }), ['reasoning', 'tool-call']);
    assert.deepEqual(types({ content: `<think>${thought}` }), ['reasoning', 'tool-call']);
    assert.deepEqual(types({ content: '\n\n', reasoning_content: thought }), ['reasoning', 'tool-call']);
    // An answer, a limit, a call that the server read, and thoughts about calls.
    assert.deepEqual(types({ content: 'Done.', reasoning_content: thought }), ['reasoning', 'text']);
    assert.deepEqual(types({ reasoning_content: thought }, 'length'), ['reasoning']);
    const own = [{ id: 'c', type: 'function', function: { name: 'write', arguments: '{}' } }];
    assert.deepEqual(types({ reasoning_content: thought, tool_calls: own }, 'tool_calls'), ['reasoning', 'tool-call']);
    assert.deepEqual(types({ reasoning_content: `${thought}\nThat is how it is called.` }), ['reasoning']);
    assert.deepEqual(types({ reasoning_content: JSON_A }), ['reasoning']);
    assert.deepEqual(types({ reasoning_content: `For example:\n${call}` }), ['reasoning']);
  });

  it('text calls: events have their parts in order, with reasoning before them', () => {
    const format = withTextCalls(withReasoningTags(chatCompletions, 'no'), TOOLS);
    const answer = (content: string, finish: string, calls?: unknown) =>
      foldEvents(
        format.readAnswer({
          choices: [{ message: { content, tool_calls: calls }, finish_reason: finish }],
          usage: { prompt_tokens: 1, completion_tokens: 1 },
        }),
      );
    const found = answer(`<think>Hm.</think>\nI read it.\n<tool_call>${JSON_A}</tool_call>`, 'stop');
    assert.deepEqual(
      found.parts.map(({ type }) => type),
      ['reasoning', 'text', 'tool-call'],
    );
    assert.equal(found.finish, 'tool_calls');
    assert.equal(answer(JSON_A, 'length').parts[0]?.type, 'text');
    const own = [{ id: 'c', type: 'function', function: { name: 'read_file', arguments: '{}' } }];
    assert.deepEqual(
      answer(JSON_A, 'tool_calls', own).parts.map(({ type }) => type),
      ['text', 'tool-call'],
    );
    const harmony = answer(
      '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path":"src/a.ts"}<|call|>',
      'stop',
    );
    assert.deepEqual(
      harmony.parts.map(({ type }) => type),
      ['reasoning', 'tool-call'],
    );
  });
});
