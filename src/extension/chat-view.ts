import * as vscode from 'vscode';
import { type FromPage, parseFromPage, type ToPage } from '../chat/page-messages.ts';
import { ChatSession, type SessionParts } from '../chat/session.ts';
import type { ModelLabel } from '../chat/transcript.ts';
import { PatchStream } from './patch-stream.ts';
import { webviewHtml, webviewOptions } from './webview-html.ts';

export const CHAT_VIEW = 'svc.chat';

export interface ChatViewParts extends SessionParts {
  readonly extension: vscode.Uri;
  /** Drafts survive hiding, moving, reloading and a crash. */
  readonly drafts: vscode.Memento;
  readonly log: vscode.LogOutputChannel;
  readonly onModelChange: vscode.Event<void>;
}

const DRAFT = 'svc.chat.draft';

/**
 * The side panel. The page may be thrown away and rebuilt at any time: the session stays here, and a page
 * that says `ready` gets the whole of it.
 */
export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #parts: ChatViewParts;
  readonly #stream: PatchStream;
  readonly #lifetime: vscode.Disposable[] = [];
  #session: ChatSession;
  #following: { dispose(): void } | undefined;
  #view: vscode.WebviewView | undefined;

  constructor(parts: ChatViewParts) {
    this.#parts = parts;
    this.#stream = new PatchStream((patches, seq) =>
      this.#post({ type: 'patches', session: this.#session.id, seq, patches }),
    );
    this.#session = this.#startSession();
    this.#lifetime.push(parts.onModelChange(() => this.#postModel()));
  }

  dispose(): void {
    for (const part of this.#lifetime.reverse()) part.dispose();
    this.#following?.dispose();
    this.#stream.dispose();
    this.#session.dispose();
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    view.webview.options = webviewOptions(this.#parts.extension);
    const heard = view.webview.onDidReceiveMessage((value: unknown) => this.#hear(value));
    view.onDidDispose(() => {
      heard.dispose();
      if (this.#view === view) this.#view = undefined;
    });
    view.webview.html = webviewHtml(view.webview, this.#parts.extension, {
      script: 'chat',
      title: 'Svc Chat',
      styles: ['codicon.css', 'chat.css'],
    });
  }

  async newConversation(): Promise<void> {
    this.#session.dispose();
    this.#session = this.#startSession();
    this.#postSnapshot();
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
  }

  #startSession(): ChatSession {
    this.#following?.dispose();
    this.#stream.reset();
    const session = new ChatSession(this.#parts);
    this.#following = session.onPatch((patch, seq) => this.#stream.push(patch, seq));
    return session;
  }

  #hear(value: unknown): void {
    const message = parseFromPage(value);
    if (!message) {
      this.#parts.log.warn('The panel sent a message that is not one of its own; it was ignored.');
      return;
    }
    void this.#handle(message);
  }

  async #handle(message: FromPage): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.#postModel();
        return this.#postSnapshot();
      case 'send':
        return this.#run(this.#session.send(message.text));
      case 'retry':
        return this.#run(this.#session.retry());
      case 'stop':
        return this.#session.stop();
      case 'new-conversation':
        return this.newConversation();
      case 'draft':
        await this.#parts.drafts.update(DRAFT, message.text);
        return;
      case 'pick-model':
        await vscode.commands.executeCommand('svc.model.pick');
        return;
      case 'add-provider':
        await vscode.commands.executeCommand('svc.config.open');
        return;
      case 'show-log':
        this.#parts.log.show();
        return;
      case 'open-link':
        return openLink(message.href);
      case 'copy':
        await vscode.env.clipboard.writeText(message.text);
        return;
    }
  }

  async #run(answer: Promise<void>): Promise<void> {
    const session = this.#session.id;
    this.#post({ type: 'running', session, running: true });
    await answer;
    this.#stream.flush();
    this.#post({ type: 'running', session, running: this.#session.running });
  }

  #postModel(): void {
    const label: ModelLabel | null = this.#parts.model()?.label ?? null;
    this.#post({ type: 'model', model: label });
  }

  #postSnapshot(): void {
    this.#stream.reset();
    this.#post({
      type: 'snapshot',
      session: this.#session.id,
      seq: this.#session.seq,
      messages: this.#session.messages,
      running: this.#session.running,
      draft: this.#parts.drafts.get(DRAFT, ''),
    });
  }

  #post(message: ToPage): void {
    void this.#view?.webview.postMessage(message);
  }
}

/** Opens what a person may mean by a link in an answer: the web and mail, nothing that acts in the editor. */
async function openLink(href: string): Promise<void> {
  if (!/^(?:https?|mailto):/i.test(href)) return;
  await vscode.env.openExternal(vscode.Uri.parse(href, true));
}
