import assert from 'node:assert/strict';
import { ChatSession } from '../../src/chat/session/session.ts';
import { messageText, versionsIn } from '../../src/chat/transcript.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { scripted, sessionAt, whenPatch } from './test-session.ts';

describe('ChatSession', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  const say = (scenario: string) => ({ text: `Hi [[scenario:${scenario}]]` });

  it('ChatSession: stores text, usage and price of an answer', async () => {
    const { session } = sessionAt(upstream, { cost: { input: 3, output: 15, cacheRead: 0.3 } });
    upstream.respond(scripted({ text: ['One', ' two'], usage: { input: 1000, output: 200, cached: 900 } }));
    await session.send({ text: 'Hi' });
    const answer = session.messages.at(-1);
    assert.equal(answer && messageText(answer), 'One two');
    assert.deepEqual(answer?.usage, { input: 1000, output: 200, cacheRead: 900 });
    assert.equal(answer?.price, (100 * 3 + 900 * 0.3 + 200 * 15) / 1e6);
    assert.equal(session.transcript.title, 'Hi');
  });

  const ENDINGS = [
    ['text', { type: 'finished', reason: 'stop', outcome: 'complete' }, 'Hello, wörld 👋.'],
    ['length', { type: 'finished', reason: 'length', outcome: 'incomplete' }, 'Hello, wörld 👋.'],
    ['filter', { type: 'finished', reason: 'content_filter', outcome: 'filtered' }, 'Hello, wörld 👋.'],
    ['reasoning-only', { type: 'finished', reason: 'length', outcome: 'reasoning-only' }, ''],
    ['no-terminator', { type: 'finished', reason: 'closed', outcome: 'interrupted' }, 'Hello, wörld '],
  ] as const;
  for (const [scenario, ending, text] of ENDINGS) {
    it(`ChatSession: shows how an answer ended: ${scenario}`, async () => {
      const { session } = sessionAt(upstream);
      await session.send(say(scenario));
      const answer = session.messages.at(-1);
      assert.deepEqual(answer?.ending, ending);
      assert.equal(answer && messageText(answer), text);
    });
  }

  it('ChatSession: keeps the received text if the connection breaks', async () => {
    const { session } = sessionAt(upstream);
    await session.send(say('reset-mid-stream'));
    const answer = session.messages.at(-1);
    assert.equal(answer && messageText(answer), 'Hello, wörld ');
    assert.equal(answer?.ending?.type === 'failed' && answer.ending.error.action, 'retry');
  });

  it('ChatSession: stop closes the socket and keeps the text', async () => {
    const { session } = sessionAt(upstream);
    const sent = session.send(say('stall-mid-stream'));
    await whenPatch(session, (patch) => patch.type === 'append' && patch.text.includes('wörld'));
    session.stop();
    await sent;
    const answer = session.messages.at(-1);
    assert.deepEqual(answer?.ending, { type: 'stopped' });
    assert.equal(answer && messageText(answer), 'Hello, wörld ');
    assert.equal(await (await upstream.request(0)).closed, true);
  });

  it('ChatSession: continues a cut answer and tells the model so', async () => {
    const { session } = sessionAt(upstream);
    upstream.respond(scripted({ text: ['A, B'], finish: 'length' }, { text: [', C'] }));
    await session.send({ text: 'List' });
    await session.continue();
    const { messages } = (await upstream.request(1)).body;
    assert.ok(Array.isArray(messages));
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
    assert.match(JSON.stringify(messages[2]), /Continue exactly where you stopped/);
    assert.equal(session.messages.at(-2)?.auto, true);
  });

  it('ChatSession: an edit creates a branch, keeps the old one, and only the shown branch is sent', async () => {
    const { session } = sessionAt(upstream);
    upstream.respond(scripted({ text: ['first'] }, { text: ['second'] }, { text: ['third'] }));
    await session.send({ text: 'Old question' });
    const [question] = session.messages;
    await session.edit(question?.id ?? '', { text: 'New question' });
    assert.deepEqual(session.messages.map(messageText), ['New question', 'second']);
    assert.doesNotMatch(JSON.stringify((await upstream.request(1)).body), /Old question/);
    const versions = question ? versionsIn(session.transcript)(question) : [];
    assert.deepEqual(versions.map(messageText), ['Old question', 'New question']);
    session.select(question?.id ?? '');
    assert.deepEqual(session.messages.map(messageText), ['Old question', 'first']);
    await session.send({ text: 'And then?' });
    assert.doesNotMatch(JSON.stringify((await upstream.request(2)).body), /New question/);
  });

  it('ChatSession: a second answer is a branch, and returning to a version shows its newest branch', async () => {
    const { session } = sessionAt(upstream);
    upstream.respond(scripted({ text: ['first'] }, { text: ['follow-up'] }, { text: ['second'] }));
    await session.send({ text: 'Question' });
    const first = session.messages.at(-1)?.id ?? '';
    await session.send({ text: 'More' });
    await session.regenerate(first);
    assert.deepEqual(session.messages.map(messageText), ['Question', 'second']);
    session.select(first);
    assert.deepEqual(session.messages.map(messageText), ['Question', 'first', 'More', 'follow-up']);
  });

  it('ChatSession: a failure without text is not a version', async () => {
    const { session } = sessionAt(upstream);
    await session.send(say('status-401'));
    upstream.respond(scripted({ text: ['now'] }));
    await session.regenerate();
    const answer = session.messages.at(-1);
    assert.equal(answer && versionsIn(session.transcript)(answer).length, 1);
  });

  it('ChatSession: reports a missing model and sends nothing', async () => {
    const { session } = sessionAt(upstream, {}, { model: () => undefined });
    await session.send({ text: 'Hi' });
    const ending = session.messages.at(-1)?.ending;
    assert.equal(ending?.type === 'failed' && ending.error.errorType, 'configuration_error');
    assert.equal(upstream.requests.length, 0);
  });

  const CARDS = [
    ['status-401', 'authentication_required', 'set-key'],
    ['status-402', 'insufficient_credits', 'choose-model'],
    ['status-403', 'model_not_allowed', 'choose-model'],
    ['status-429-retry-after-7', 'rate_limit_exceeded', 'retry'],
    ['status-503', 'temporarily_unavailable', 'retry'],
    ['context-openai', 'context_length_exceeded', 'compact'],
    ['reset-before-headers', 'network_error', 'retry'],
    ['html', 'upstream_invalid_response', 'open-settings'],
  ] as const;
  for (const [scenario, errorType, action] of CARDS) {
    it(`ChatSession: a failure has one main action: ${scenario}`, async () => {
      const { session } = sessionAt(upstream);
      await session.send(say(scenario));
      const ending = session.messages.at(-1)?.ending;
      const card = ending?.type === 'failed' ? ending.error : undefined;
      assert.deepEqual([card?.errorType, card?.action], [errorType, action]);
      assert.doesNotMatch(JSON.stringify(card), /at .*\.ts:\d+/);
      if (scenario.includes('retry-after')) assert.equal(card?.retryAt, 1000 + 7000);
    });
  }

  it('ChatSession: an answer that a crash left unfinished is marked as interrupted', async () => {
    const { session } = sessionAt(upstream);
    const sent = session.send(say('stall-mid-stream'));
    await whenPatch(session, (patch) => patch.type === 'append');
    const { transcript } = session;
    session.stop();
    await sent;
    const reopened = new ChatSession(
      { converse: async function* () {}, model: () => undefined, newId: () => 'x', now: () => 0 },
      { id: 'old', transcript },
    );
    reopened.closeOpenAnswers();
    assert.deepEqual(reopened.messages.at(-1)?.ending, { type: 'finished', reason: 'closed', outcome: 'interrupted' });
  });
});
