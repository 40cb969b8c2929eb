import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { attachmentChip, attachmentPart, mediaAttachment, textAttachment } from '../../src/chat/attachment.ts';
import { expandCommand, isCompact } from '../../src/chat/page/slash-commands.ts';

describe('attachments', () => {
  const attached = (text: string) =>
    textAttachment({ id: '1', kind: 'file', label: 'a.md', detail: 'docs/a.md', text });
  const said = (text: string) => {
    const part = attachmentPart(attached(text));
    return part.type === 'text' ? part.text : '';
  };

  it('attachment: its content cannot end its fence', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('`', '```', '````', '\n', 'a', '~~~')), (pieces) => {
        const text = pieces.join('');
        const fence = /^File docs\/a\.md:\n(`{3,})\n/.exec(said(text))?.[1] ?? '';
        assert.ok(said(text).endsWith(`\n${text}\n${fence}`));
        assert.ok(!text.includes(fence));
      }),
    );
  });

  it('attachment: a file may contain any number of backticks', () => {
    assert.match(said('` '.repeat(190_000)), /^File docs\/a\.md:\n```\n/);
  });

  it('attachment: the message states that the content is cut', () => {
    assert.match(said('x'.repeat(400_001)), /x\n\[cut: the rest is omitted\]\n```$/);
  });

  it('attachment: media must be an image or a PDF', () => {
    const kinds = ['image/png', 'application/pdf', 'image/svg+xml', 'text/html'].map(
      (type) => mediaAttachment('1', 'x', type, 'AAAA')?.kind,
    );
    assert.deepEqual(kinds, ['image', 'pdf', undefined, undefined]);
  });

  it('attachment: the page receives neither its text nor its bytes', () => {
    const picture = mediaAttachment('1', 'x.pdf', 'application/pdf', 'SECRET');
    const shown = JSON.stringify([attachmentChip(attached('SECRET')), picture && attachmentChip(picture)]);
    assert.doesNotMatch(shown, /SECRET/);
  });
});

describe('slash commands', () => {
  it('slash command: is replaced by its prompt, followed by the rest of the message', () => {
    const { text, command } = expandCommand('/explain  only the loop');
    assert.equal(command?.attaches, 'selection');
    assert.match(text, /^Explain what this code does[^\n]*\n\nonly the loop$/);
  });

  for (const text of ['/explainer', '/etc/hosts is empty', 'see /explain', '/', '']) {
    it(`slash command: similar text is not a command: “${text}”`, () => {
      assert.deepEqual(expandCommand(text), { text });
      assert.equal(isCompact(text), false);
    });
  }

  it('slash command: /summarize has its own kind', () => {
    assert.equal(isCompact(' /compact '), true);
    assert.equal(isCompact('/compact this'), false);
  });
});
