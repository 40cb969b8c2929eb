import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Event } from '../../src/wire/event.ts';
import type { Format } from '../../src/wire/format.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { frameText } from '../../src/wire/stream/sse.ts';
import type { Script } from '../upstream/answers.ts';
import { CONTEXT, FORMAT_LIST, SCRIPTS, streamedEvents, wholeEvents, writeFrames } from './format-pairs.ts';

/** An answer as an official client returns it. */
interface Seen {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  readonly finish: string;
  readonly input: number;
  readonly output: number;
}

/** The official clients read the output of our writers. */
describe('official clients with the written formats', () => {
  let server: Server;
  let port = 0;
  let answer: { stream: Event[]; whole: readonly Event[] } = { stream: [], whole: [] };

  before(async () => {
    server = createServer((request, response) => {
      const format = FORMAT_LIST.find((candidate) => request.url?.endsWith(candidate.path));
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        assert.ok(format);
        if (JSON.parse(body).stream === true) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end(writeFrames(format, answer.stream).map(frameText).join(''));
        } else {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(format.writeAnswer(CONTEXT, answer.whole)));
        }
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  const openai = (): OpenAI => new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
  const anthropic = (): Anthropic => new Anthropic({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });

  const readers: Record<Format['name'], (stream: boolean) => Promise<Seen>> = {
    'chat-completions': async (stream) => {
      const body = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
      const completion = stream
        ? await openai().chat.completions.stream(body).finalChatCompletion()
        : await openai().chat.completions.create(body);
      const { message, finish_reason } = completion.choices[0] ?? assert.fail('no choice');
      const calls = (message.tool_calls ?? []).map((call) => {
        assert.ok(call.type === 'function');
        return { id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) };
      });
      const usage = completion.usage ?? assert.fail('no usage');
      return {
        text: message.content ?? '',
        calls,
        finish: finish_reason,
        input: usage.prompt_tokens,
        output: usage.completion_tokens,
      };
    },
    responses: async (stream) => {
      const body = { model: 'm', input: 'hi' };
      const response = stream
        ? await openai().responses.stream(body).finalResponse()
        : await openai().responses.create(body);
      const calls = response.output.flatMap((item) =>
        item.type === 'function_call' ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }] : [],
      );
      const reason = response.incomplete_details?.reason ?? (calls.length > 0 ? 'tool_calls' : response.status);
      const usage = response.usage ?? assert.fail('no usage');
      return {
        text: response.output_text,
        calls,
        finish: String(reason),
        input: usage.input_tokens,
        output: usage.output_tokens,
      };
    },
    messages: async (stream) => {
      const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'hi' }] };
      const message = stream
        ? await anthropic().messages.stream(body).finalMessage()
        : await anthropic().messages.create(body);
      const { usage } = message;
      return {
        text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        calls: message.content.flatMap((block) =>
          block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
        ),
        finish: String(message.stop_reason),
        input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
        output: usage.output_tokens,
      };
    },
  };

  const finishes: Record<Format['name'], Record<NonNullable<Script['finish']>, string>> = {
    'chat-completions': { stop: 'stop', length: 'length', tool: 'tool_calls', filter: 'content_filter' },
    responses: { stop: 'completed', length: 'max_output_tokens', tool: 'tool_calls', filter: 'content_filter' },
    messages: { stop: 'end_turn', length: 'max_tokens', tool: 'tool_use', filter: 'refusal' },
  };

  for (const from of FORMAT_LIST) {
    for (const to of Object.values(FORMATS)) {
      for (const [name, script] of Object.entries(SCRIPTS)) {
        for (const stream of [true, false]) {
          it(`official client: ${from.name} to ${to.name}, ${stream ? 'streamed' : 'whole'}: ${name}`, async () => {
            answer = { stream: streamedEvents(from, script), whole: wholeEvents(from, script) };
            // The Chat client's helper throws for an answer that was cut: then its raw stream is read below.
            const cut = script.finish === 'length' || script.finish === 'filter';
            if (cut && stream && to.name === 'chat-completions') {
              const body = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }], stream: true as const };
              const finish: unknown[] = [];
              for await (const chunk of await openai().chat.completions.create(body)) {
                finish.push(...chunk.choices.map((choice) => choice.finish_reason).filter((reason) => reason !== null));
              }
              assert.deepEqual(finish, [finishes[to.name][script.finish ?? 'stop']]);
              return;
            }
            const seen = await readers[to.name](stream);
            const { input, output } = script.usage ?? { input: 11, output: 7 };
            assert.deepEqual(seen, {
              text: (script.text ?? []).join(''),
              calls: (script.tools ?? []).map((tool) => ({
                id: tool.id,
                name: tool.name,
                input: JSON.parse(tool.arguments.join('') || '{}'),
              })),
              finish: finishes[to.name][script.finish ?? (script.tools ? 'tool' : 'stop')],
              input,
              output,
            });
          });
        }
      }
    }
  }
});
