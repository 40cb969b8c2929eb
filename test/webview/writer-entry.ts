import { MarkdownWriter, writeWhole } from '../../src/webview/chat/markdown-writer.ts';

// What the suites compare inside of the browser.
Object.assign(window, { MarkdownWriter, writeWhole });
