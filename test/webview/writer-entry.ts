import { MarkdownWriter, writeWhole } from '../../src/webview/chat/markdown/markdown-writer.ts';
import { render } from '../../src/webview/chat/markdown/safe-html.ts';

// Functions that the suites call in the browser.
Object.assign(window, { MarkdownWriter, writeWhole, render });
