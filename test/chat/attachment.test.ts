import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { attachmentChip, attachmentPart, mediaAttachment, textAttachment } from '../../src/chat/attachment.ts';
import { expandCommand, isCompact } from '../../src/chat/page/slash-commands.ts';

describe('what is attached to a message', () => {
  const attached = (text: string) =>
    textAttachment({ id: '1', kind: 'file', label: 'a.md', detail: 'docs/a.md', text });
  const said = (text: string) => {
    const part = attachmentPart(attached(text));
    return part.type === 'text' ? part.text : '';
  };

  it('can’t end its own fence, whatever it holds', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('`', '```', '````', '\n', 'a', '~~~')), (pieces) => {
        const text = pieces.join('');
        const fence = /^File docs\/a\.md:\n(`{3,})\n/.exec(said(text))?.[1] ?? '';
        assert.ok(said(text).endsWith(`\n${text}\n${fence}`));
        assert.ok(!text.includes(fence));
      }),
    );
  });

  it('may hold as many backticks as a file can', () => {
    assert.match(said('` '.repeat(190_000)), /^File docs\/a\.md:\n```\n/);
  });

  it('says when it is cut', () => {
    assert.match(said('x'.repeat(400_001)), /x\n\[cut: the rest is omitted\]\n```$/);
  });

  it('is a picture or a PDF, or nothing', () => {
    const kinds = ['image/png', 'application/pdf', 'image/svg+xml', 'text/html'].map(
      (type) => mediaAttachment('1', 'x', type, 'AAAA')?.kind,
    );
    assert.deepEqual(kinds, ['image', 'pdf', undefined, undefined]);
  });

  it('keeps its text and its bytes from the page', () => {
    const picture = mediaAttachment('1', 'x.pdf', 'application/pdf', 'SECRET');
    const shown = JSON.stringify([attachmentChip(attached('SECRET')), picture && attachmentChip(picture)]);
    assert.doesNotMatch(shown, /SECRET/);
  });
});

describe('commands in a message', () => {
  it('stand for their prompt, with what is written after them', () => {
    const { text, command } = expandCommand('/explain  only the loop');
    assert.equal(command?.attaches, 'selection');
    assert.match(text, /^Explain what this code does[^\n]*\n\nonly the loop$/);
  });

  for (const text of ['/explainer', '/etc/hosts is empty', 'see /explain', '/', '']) {
    it(`are not what only looks like one: “${text}”`, () => {
      assert.deepEqual(expandCommand(text), { text });
      assert.equal(isCompact(text), false);
    });
  }

  it('summarize by a word of their own', () => {
    assert.equal(isCompact(' /compact '), true);
    assert.equal(isCompact('/compact this'), false);
  });
});
