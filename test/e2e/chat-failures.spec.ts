import assert from 'node:assert/strict';
import { waitUntil } from '../host/wait-until.ts';
import { runCommand, webviewFrame } from '../host/workbench.ts';
import {
  type Answer,
  answerWith,
  type ChatHarness,
  failWith,
  pausedAnswer,
  startChatHarness,
  typeMessage,
} from './chat-harness.ts';

const openAi = (type: string, message: string, code?: string) => ({ error: { type, message, code } });

/** The answer of a provider, the title of the card, and its first button. */
const CARDS: Readonly<Record<string, readonly [Answer, RegExp, RegExp]>> = {
  'no key': [
    failWith(401, openAi('authentication_error', 'Invalid key.')),
    /The key was not accepted/,
    /Set the key of/,
  ],
  'no funds': [
    failWith(402, openAi('insufficient_quota', 'Pay first.', 'insufficient_quota')),
    /out of funds/,
    /Choose another model/,
  ],
  'no such model': [
    failWith(404, openAi('invalid_request_error', 'No such model.', 'model_not_found')),
    /The model was not found/,
    /Choose another model/,
  ],
  'too many requests': [
    failWith(429, openAi('rate_limit_error', 'Slow down.'), { 'retry-after': '600' }),
    /Too many requests/,
    /Try again in \d+ s/,
  ],
  'too long': [
    failWith(400, openAi('invalid_request_error', 'Too many tokens.', 'context_length_exceeded')),
    /too long for this model/,
    /Summarize and try again/,
  ],
  'a bad request': [failWith(400, openAi('invalid_request_error', 'Bad field.')), /refused the request/, /Show log/],
  'no sense': [
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>Login</html>');
    },
    /could not be understood/,
    /Open settings/,
  ],
};

describe('failures of a conversation in the editor', () => {
  let harness: ChatHarness;
  before(async () => {
    harness = await startChatHarness({ ownServer: true });
  });
  after(() => harness?.close());
  beforeEach(async () => {
    harness.answer(answerWith({ text: ['Hello there.'] }));
    await harness.newConversation();
  });

  for (const [name, [answer, title, button]] of Object.entries(CARDS)) {
    it(`error card: has one main action: ${name}`, async () => {
      harness.answer(answer);
      const frame = await harness.send('Hi');
      const card = frame.locator('.card.error');
      await card.waitFor();
      await card.locator('h2', { hasText: title }).waitFor();
      await card.locator('.primary', { hasText: button }).waitFor();
      assert.equal(await card.locator('.primary').count(), 1);
      assert.equal(await card.getByRole('button', { name: 'Copy details' }).count(), 1);
      assert.equal(await card.getByRole('button', { name: 'Show log' }).count(), 1);
      assert.doesNotMatch(await card.innerText(), /\bat \S+:\d+/);
    });
  }

  it('lost connection: the received text remains, and the answer can be continued', async () => {
    harness.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = { id: '1', choices: [{ index: 0, delta: { content: 'Half of it' }, finish_reason: null }] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`, () => response.socket?.destroy());
    });
    const frame = await harness.send('Hi');
    await frame.locator('.card.error, .note.warning').waitFor();
    await frame.locator('.markdown', { hasText: /Half of it/ }).waitFor();
    harness.answer(answerWith({ text: [' and the rest.'] }));
    await frame.getByRole('button', { name: 'Continue' }).click();
    await frame.locator('.markdown', { hasText: 'and the rest.' }).waitFor();
    assert.match(harness.lastBody(), /Half of it.*Continue exactly/);
  });

  it('output limit: the rest of the answer can be requested', async () => {
    harness.answer(answerWith({ text: ['One, two'], finish: 'length' }, { text: [', three.'] }));
    const frame = await harness.send('Count');
    await frame.getByText('This answer may be incomplete').waitFor();
    await frame.getByRole('button', { name: 'Continue' }).click();
    await frame.locator('.markdown', { hasText: ', three.' }).waitFor();
  });

  it('conversation: is complete after the extension host was killed during an answer', async () => {
    await streamed('first');
    await harness.killExtensionHost();
    await survived('first');
  });

  it('conversation: is complete after VS Code was killed', async () => {
    await streamed('second');
    await harness.crash();
    await survived('second');
  });

  /** A question, half an answer and a draft that are on disk. */
  async function streamed(name: string): Promise<void> {
    harness.answer(pausedAnswer({ text: [`Said before the ${name} kill.`, ' Never said.'] }).answer);
    const frame = await harness.send(`A ${name} question`);
    await frame.locator('.markdown', { hasText: `the ${name} kill.` }).waitFor();
    await typeMessage(harness.page, frame, `A ${name} draft`);
    await harness.waitForSaved(`A ${name} draft`, `Said before the ${name} kill.`);
  }

  async function survived(name: string): Promise<void> {
    await runCommand(harness.page, 'Svc: Open Chat');
    const frame = await webviewFrame(harness.page, '.message.assistant');
    await frame.getByText('The connection closed early.').waitFor();
    await frame.locator('.message.user', { hasText: new RegExp(`A ${name} question`) }).waitFor();
    await frame.locator('.markdown', { hasText: new RegExp(`Said before the ${name} kill`) }).waitFor();
    const draft = () => frame.locator('.composer textarea').inputValue();
    await waitUntil('the draft in the input', draft, (text) => text === `A ${name} draft`);
    harness.answer(answerWith({ text: ['And so it goes on.'] }));
    await frame.getByRole('button', { name: 'Continue' }).click();
    await frame.locator('.markdown', { hasText: 'And so it goes on.' }).waitFor();
    assert.match(harness.lastBody(), new RegExp(`Said before the ${name} kill`));
  }
});
