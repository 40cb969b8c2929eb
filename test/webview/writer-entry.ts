import { MarkdownWriter, writeWhole } from '../../src/webview/chat/markdown/markdown-writer.ts';
import { render } from '../../src/webview/chat/markdown/safe-html.ts';

// What the suites compare inside of the browser.
Object.assign(window, { MarkdownWriter, writeWhole, render });
