import * as vscode from 'vscode';
import { type Attachment, mediaAttachment } from '../../../chat/attachment.ts';
import type { SlashCommand } from '../../../chat/page/slash-commands.ts';
import type { FromPageOf } from '../../../protocol/chat/from-page.ts';
import type { AttachTopic, TopicPage } from '../surface-topic.ts';
import { type Attach, refused } from './attach.ts';

type AttachMessage = FromPageOf<'attach' | 'attach-uris' | 'attach-media' | 'attach-refused'>;

/** Attachments that the user chooses, drops or pastes. */
export class AttachActions implements AttachTopic {
  readonly #attach: Attach;
  readonly #newId: () => string;

  constructor(attach: Attach, newId: () => string) {
    this.#attach = attach;
    this.#newId = newId;
  }

  async handle(message: AttachMessage, page: TopicPage): Promise<void> {
    switch (message.type) {
      case 'attach':
        return page.attachLater(this.#pick());
      case 'attach-uris':
        return page.attachLater(this.#attach.dropped(message.uris));
      case 'attach-media':
        return page.attachLater(Promise.resolve(this.#media(message)));
      case 'attach-refused':
        return refused(message.name, message.why);
    }
  }

  /** The default attachments of a slash command. */
  async forCommand({ attaches }: SlashCommand): Promise<readonly Attachment[]> {
    if (attaches === 'diff') return this.#attach.diff();
    return attaches === 'selection' ? this.#attach.selection() : [];
  }

  #media({ name, mediaType, base64, preview }: FromPageOf<'attach-media'>): readonly Attachment[] {
    const attachment = mediaAttachment(this.#newId(), name, mediaType, base64);
    if (!attachment) return [];
    return [preview === undefined ? attachment : { ...attachment, preview }];
  }

  /** Lets the user choose. None if the user cancels. */
  async #pick(): Promise<readonly Attachment[]> {
    const attach = this.#attach;
    const item = (label: string, run: () => Promise<readonly Attachment[]>) => ({ label, run });
    const items = [
      item(`$(file-media) ${vscode.l10n.t('Files, images, PDFs…')}`, () => this.#pickFiles()),
      item(`$(list-selection) ${vscode.l10n.t('Selected code or the open file')}`, () => attach.named('selection')),
      item(`$(warning) ${vscode.l10n.t('Problems of the workspace')}`, () => attach.named('problems')),
      item(`$(terminal) ${vscode.l10n.t('Last output of the terminal')}`, () => attach.named('terminal')),
      item(`$(git-compare) ${vscode.l10n.t('Changes in Git')}`, () => attach.named('diff')),
    ];
    const chosen = await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Attach'), ignoreFocusOut: true });
    return (await chosen?.run()) ?? [];
  }

  async #pickFiles(): Promise<readonly Attachment[]> {
    const uris = await vscode.window.showOpenDialog({ canSelectMany: true, canSelectFolders: false });
    return (await Promise.all((uris ?? []).map((uri) => this.#attach.uri(uri)))).flat();
  }
}
