import assert from 'node:assert/strict';
import {
  afterCall,
  type Body,
  chat,
  chatTool,
  flatTool,
  functionCall,
  inputText,
  messages,
  outputOf,
  picture,
  plainRequest,
  responses,
  type Shown,
  text,
  toolResult,
  toolUse,
  user,
} from './lossy-values.ts';

const pictureMoved: NonNullable<Shown['becomes']> = (written) => {
  const [, , result, moved] = Array.isArray(written.messages) ? written.messages : [];
  assert.deepEqual(result, { role: 'tool', tool_call_id: 'c', content: 'r[image in the next message]' });
  assert.deepEqual(moved.content, [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }]);
};
const joined: NonNullable<Shown['becomes']> = (written) => {
  const said = (Array.isArray(written.messages) ? written.messages : []).find(({ role }) => role === 'assistant');
  assert.equal(said.content, 'beforeafter');
  assert.equal(said.tool_calls.length, 1);
};

const thinks: NonNullable<Shown['becomes']> = (written) => {
  const adaptive = String(written.model).startsWith('claude-opus-4-6');
  const expected = adaptive ? { type: 'adaptive' } : { type: 'enabled', budget_tokens: 2457 };
  assert.deepEqual(written.thinking, expected);
};
const reasoningBudget = (budget_tokens: number, effort: string): Shown => ({
  from: 'messages',
  said: messages({ max_tokens: 10_000, thinking: { type: 'enabled', budget_tokens } }),
  becomes: (written, to) =>
    to === 'responses'
      ? assert.deepEqual(written.reasoning, { effort, summary: 'auto' })
      : assert.equal(written.reasoning_effort, effort),
});
const unthinking: NonNullable<Shown['becomes']> = (written) => {
  assert.ok(written.thinking === undefined || JSON.stringify(written.thinking) === '{"type":"disabled"}');
  assert.deepEqual(written.tool_choice, { type: 'any' });
};

const thought = (block: Body | undefined) =>
  messages({
    messages: [user, { role: 'assistant', content: [...(block ? [block] : []), text('a')] }, user],
  });
const reasoned = (item: Body | undefined) =>
  responses({ input: [user, ...(item ? [item] : []), { role: 'assistant', content: 'a' }, user] });
const summary = [{ type: 'summary_text', text: 'hm' }];

const messagesAnswer = (more: Body, content: readonly Body[] = [text('a')]): Body => ({
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', content },
  usage: { input_tokens: 1, output_tokens: 1 },
  ...more,
});
const chatAnswer = (message: Body): Body => ({
  ...{ id: 'm', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
});
const responsesAnswer = (part: Body): Body => ({
  ...{ id: 'm', object: 'response', created_at: 1, model: 'm', status: 'completed' },
  output: [{ type: 'message', id: 'i', role: 'assistant', content: [part] }],
});
const citation = { type: 'char_location', cited_text: 'c', document_index: 0, start_char_index: 0, end_char_index: 1 };
const urlCitation = { type: 'url_citation', url: 'https://x.test', title: 't', start_index: 0, end_index: 1 };
const refusal: NonNullable<Shown['becomes']> = (written) =>
  assert.deepEqual(written.content, [{ type: 'text', text: 'no' }]);

/** Rows about messages, reasoning and answers, by the first column of the table. */
export const CONTENT: Readonly<Record<string, readonly Shown[]>> = {
  recordings: [
    {
      from: 'chat-completions',
      said: plainRequest['chat-completions']({ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }),
      param: 'messages',
    },
    {
      from: 'responses',
      said: plainRequest.responses({ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }),
      param: 'messages',
    },
  ],
  'a file by URL': [
    {
      from: 'responses',
      said: plainRequest.responses({ type: 'input_file', file_url: 'https://x.test/a.pdf' }),
      param: 'messages',
    },
    {
      from: 'messages',
      said: plainRequest.messages({ type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' } }),
      param: 'messages',
    },
  ],
  'an image by a vendor’s file id': [
    { from: 'responses', said: plainRequest.responses({ type: 'input_image', file_id: 'file_1' }), param: 'messages' },
    {
      from: 'messages',
      said: plainRequest.messages({ type: 'image', source: { type: 'file', file_id: 'file_1' } }),
      param: 'messages',
    },
  ],
  'files other than PDF and text': [
    {
      from: 'chat-completions',
      said: plainRequest['chat-completions']({ type: 'file', file: { file_data: 'data:application/zip;base64,AA==' } }),
      param: 'messages',
    },
    {
      from: 'responses',
      said: plainRequest.responses({ type: 'input_file', file_data: 'data:application/zip;base64,AA==' }),
      param: 'messages',
    },
  ],
  'images and files in a tool result': [
    {
      from: 'messages',
      said: afterCall(
        toolResult({ content: [text('r'), { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }] }),
      ),
      becomes: pictureMoved,
    },
    { from: 'responses', said: outputOf([inputText('r'), picture({})]), becomes: pictureMoved },
  ],
  '`tool_reference` in a tool result, `defer_loading`': [
    {
      from: 'messages',
      said: afterCall(toolResult({ content: [{ type: 'tool_reference', tool_name: 'f' }] })),
      becomes: (written) => assert.ok(JSON.stringify(written).includes('Tool f is available.')),
    },
  ],
  '`is_error` of a tool result': [
    {
      from: 'messages',
      said: afterCall(toolResult({ content: 'r', is_error: true })),
      unsaid: afterCall(toolResult({ content: 'r' })),
    },
  ],
  'empty text': [
    {
      from: 'chat-completions',
      said: plainRequest['chat-completions'](text(''), text('q')),
      unsaid: plainRequest['chat-completions'](text('q')),
    },
    {
      from: 'responses',
      said: plainRequest.responses(inputText(''), inputText('q')),
      unsaid: plainRequest.responses(inputText('q')),
    },
  ],
  'text after a tool call': [
    {
      from: 'messages',
      said: messages({
        messages: [
          user,
          { role: 'assistant', content: [text('before'), toolUse, text('after')] },
          toolResult({ content: 'r' }),
        ],
      }),
      becomes: joined,
    },
    {
      from: 'responses',
      said: responses({
        input: [
          user,
          { role: 'assistant', content: 'before' },
          functionCall,
          { role: 'assistant', content: 'after' },
          { type: 'function_call_output', call_id: 'c', output: 'r' },
        ],
      }),
      becomes: joined,
    },
  ],
  'reasoning effort': ['claude-opus-4-6', 'claude-3-7-sonnet'].flatMap((model): Shown[] => [
    {
      from: 'chat-completions',
      said: chat({ model, max_completion_tokens: 4096, reasoning_effort: 'high' }),
      becomes: thinks,
    },
    {
      from: 'responses',
      said: responses({ model, max_output_tokens: 4096, reasoning: { effort: 'high' } }),
      becomes: thinks,
    },
  ]),
  'a thinking budget': [reasoningBudget(1500, 'low'), reasoningBudget(3000, 'medium'), reasoningBudget(8000, 'high')],
  'reasoning together with a forced tool': [
    {
      from: 'chat-completions',
      said: chat({ reasoning_effort: 'high', tools: [chatTool], tool_choice: 'required' }),
      becomes: unthinking,
    },
    {
      from: 'responses',
      said: responses({ reasoning: { effort: 'high' }, tools: [flatTool], tool_choice: 'required' }),
      becomes: unthinking,
    },
  ],
  'a thinking signature, redacted thinking': [
    {
      from: 'messages',
      said: thought({ type: 'thinking', thinking: 'hm', signature: 's' }),
      unsaid: thought(undefined),
    },
    { from: 'messages', said: thought({ type: 'redacted_thinking', data: 'x' }), unsaid: thought(undefined) },
  ],
  'encrypted reasoning': [
    {
      from: 'responses',
      said: reasoned({ type: 'reasoning', id: 'r', summary, encrypted_content: 'x' }),
      unsaid: reasoned(undefined),
    },
  ],
  'reasoning without a signature or encrypted content in the history': [
    {
      from: 'chat-completions',
      said: chat({ messages: [user, { role: 'assistant', content: 'a', reasoning_content: 'hm' }, user] }),
      unsaid: chat({ messages: [user, { role: 'assistant', content: 'a' }, user] }),
    },
    { from: 'responses', said: reasoned({ type: 'reasoning', id: 'r', summary }), unsaid: reasoned(undefined) },
  ],
  'the stop sequence that ended the answer': [
    {
      from: 'messages',
      said: messagesAnswer({ stop_reason: 'stop_sequence', stop_sequence: 'END' }),
      unsaid: messagesAnswer({}),
      answer: true,
    },
  ],
  citations: [
    {
      from: 'messages',
      said: messagesAnswer({}, [{ ...text('a'), citations: [citation] }]),
      unsaid: messagesAnswer({}),
      answer: true,
    },
  ],
  annotations: [
    {
      from: 'chat-completions',
      said: chatAnswer({ content: 'a', annotations: [{ type: 'url_citation', url_citation: urlCitation }] }),
      unsaid: chatAnswer({ content: 'a' }),
      answer: true,
    },
    {
      from: 'responses',
      said: responsesAnswer({ type: 'output_text', text: 'a', annotations: [urlCitation] }),
      unsaid: responsesAnswer({ type: 'output_text', text: 'a' }),
      answer: true,
    },
  ],
  'a refusal’s text': [
    { from: 'chat-completions', said: chatAnswer({ content: null, refusal: 'no' }), becomes: refusal, answer: true },
    { from: 'responses', said: responsesAnswer({ type: 'refusal', refusal: 'no' }), becomes: refusal, answer: true },
  ],
};
