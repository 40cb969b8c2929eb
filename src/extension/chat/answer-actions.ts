import * as vscode from 'vscode';
import type { FromPageOf } from '../../protocol/chat/from-page.ts';
import { readDiagramScript } from '../pages/page-html.ts';
import { codeBlockAction } from './editing/code-block-actions.ts';
import { existingPaths, openLink, openPath } from './links.ts';
import type { AnswerTopic, TopicPage } from './surface-topic.ts';
import type { ToolPlaces } from './tools/own-tools.ts';

type AnswerMessage = FromPageOf<'code' | 'copy' | 'open-link' | 'check-paths' | 'open-path' | 'load-diagram-script'>;

/** Code blocks, links and diagrams of answers. */
export class AnswerActions implements AnswerTopic {
  readonly #places: ToolPlaces;
  readonly #extension: vscode.Uri;

  constructor(places: ToolPlaces, extension: vscode.Uri) {
    this.#places = places;
    this.#extension = extension;
  }

  async handle(message: AnswerMessage, page: TopicPage): Promise<void> {
    switch (message.type) {
      case 'code':
        return codeBlockAction(message, this.#places);
      case 'copy':
        return vscode.env.clipboard.writeText(message.text);
      case 'open-link':
        return openLink(message.href, message.shown);
      case 'open-path':
        return openPath(message.path);
      case 'check-paths': {
        const { paths } = message;
        return page.post({ type: 'paths', paths, found: await existingPaths(paths) });
      }
      case 'load-diagram-script':
        return page.post({ type: 'diagram-script', text: await readDiagramScript(this.#extension) });
    }
  }
}
