import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { translate } from '../../../src/extension/error-text.ts';
import { escapeMarkdown, markdownCode, withoutIcons, withoutLinks } from '../../../src/extension/foreign-text.ts';

/** The form that VS Code makes a link of in a notification: `linkedText.ts`, `LINK_REGEX`. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

describe('foreign texts in VS Code', () => {
  for (const text of [
    'Your session has ended. [Sign in again](command:workbench.action.terminal.new)',
    '[a](command:x "title") [b](https://example.com) [c](file:///etc/passwd)',
    '[[a](command:x)](command:y)',
    '[a\n](command:x)',
    '[a](COMMAND:x?%5B%22b%22%5D)',
    '](command:x)[a](command:x',
  ]) {
    it(`notification: has no link: ${JSON.stringify(text)}`, () => assert.doesNotMatch(withoutLinks(text), LINK));
  }

  it('notification: a text without a link is not changed', () => {
    for (const text of ['Model [large] (8k) failed: f(a)[0]', 'a]b(c)', '[x]']) assert.equal(withoutLinks(text), text);
  });

  it('notification: an error has no marks of code, which would be shown', () => {
    const text = { template: 'Set `{0}` of {1}.', values: ['cost', '`m`'] };
    assert.equal(translate(text), 'Set cost of m.');
  });

  it('list: a name has no icon', () => assert.equal(withoutIcons('a $(check) b'), 'a $ (check) b'));

  for (const text of [
    '![](https://example.com/x.png)',
    '<img src="https://example.com">',
    '$(check) *a* [b](command:c)',
    '`a` ![x](y)',
    'a\n\n# b',
    'https://example.com',
    'me@example.com',
  ]) {
    it(`hover: shows ${JSON.stringify(text)} as text`, async () => {
      const html = await render(`${escapeMarkdown(text)} ${markdownCode(text)}`);
      assert.doesNotMatch(html, /<(?:a|img|h\d|em|strong)\b|codicon/);
    });
  }

  /** As VS Code's Markdown extension renders it. */
  async function render(markdown: string): Promise<string> {
    return vscode.commands.executeCommand<string>('markdown.api.render', markdown);
  }
});
