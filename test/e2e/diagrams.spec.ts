import { answerWith, type ChatHarness, startChatHarness } from './chat-harness.ts';

describe('diagrams in the editor', () => {
  let harness: ChatHarness;
  before(async () => {
    harness = await startChatHarness();
  });
  after(() => harness?.close());
  beforeEach(() => harness.newConversation());

  it('diagram: one that never ends is ended in VS Code, and the panel goes on', async () => {
    // More than 10 seconds of layout.
    const slow = `flowchart LR\n${Array.from({ length: 3_000 }, (_, at) => `n${at}`).join('\n')}`;
    const blocks = [slow, 'flowchart LR\n  A --> B'].map((source) => `\`\`\`mermaid\n${source}\n\`\`\``);
    harness.answer(answerWith({ text: [blocks.join('\n\n')] }, { text: ['Next.'] }));
    const frame = await harness.send('Draw');
    await frame.locator('.diagram.failed', { hasText: 'longer than 2 seconds' }).waitFor();
    await frame.locator('.diagram img').waitFor();
    await harness.send('More');
    await frame.locator('.markdown', { hasText: 'Next.' }).waitFor();
  });
});
