import * as vscode from 'vscode';
import type { Attachment } from '../../../chat/attachment.ts';
import { COMPACT, SLASH_COMMANDS } from '../../../chat/page/slash-commands.ts';
import type { FromPageOf } from '../../../protocol/chat/from-page.ts';
import type { CompletionItem } from '../../../protocol/chat/page-messages.ts';
import type { ExcludedFiles } from '../../completion/excluded-files.ts';
import { promptFiles } from '../context/prompt-files.ts';
import { findLinkedFile } from '../links.ts';
import type { MentionTopic, TopicPage } from '../surface-topic.ts';
import { fileAt, workspaceRelativePath } from '../tools/workspace-path.ts';
import type { Attach } from './attach.ts';

const MAX_ITEMS = 12;
const MAX_FILES = 8;
const MAX_FOLDERS = 3;
/** Number of files that are looked at. Most of them may be ignored. */
const MAX_FOUND = 400;
/** Also where no ignore file names them. */
const NEVER = '**/{node_modules,.git}/**';

interface Special {
  readonly id: string;
  readonly detail: string;
  readonly icon: string;
}

/** Number of recently shown files that are offered. */
const MAX_RECENT = 20;
/** Number of names in a message that are looked up. */
const MAX_NAMED = 10;

/** The place of an unfinished mention in a message: `from` is the index of its `@`. */
interface Mention {
  readonly from: number;
  readonly text: string;
}

/** Completions for `@` and `/`. The page receives only names; contents stay in the host. */
export class Mentions implements MentionTopic, vscode.Disposable {
  readonly #attach: Attach;
  readonly #excluded: Pick<ExcludedFiles, 'isIgnored'>;
  /** The files that were shown, the last one first. */
  #recent: readonly vscode.Uri[] = [];
  readonly #subscription: vscode.Disposable;
  /** The offered symbols, by item id. */
  readonly #symbols = new Map<string, vscode.SymbolInformation>();
  #query = 0;

  constructor(attach: Attach, excluded: Pick<ExcludedFiles, 'isIgnored'>) {
    this.#attach = attach;
    this.#excluded = excluded;
    this.#addRecent(vscode.window.activeTextEditor);
    this.#subscription = vscode.window.onDidChangeActiveTextEditor((editor) => this.#addRecent(editor));
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  async handle(message: FromPageOf<'complete' | 'attach-item'>, page: TopicPage): Promise<void> {
    if (message.type === 'complete') {
      const { query, trigger, text } = message;
      return this.items(trigger, text, (items) => page.post({ type: 'completions', query, items }));
    }
    page.conversation.answer(message.name);
    return page.attachLater(this.attachments(message.item));
  }

  #addRecent(editor: vscode.TextEditor | undefined): void {
    const uri = editor?.document.uri;
    if (!uri || !vscode.workspace.getWorkspaceFolder(uri)) return;
    const others = this.#recent.filter((each) => each.toString() !== uri.toString());
    this.#recent = [uri, ...others].slice(0, MAX_RECENT);
  }

  /**
   * Looks up the names after `@` in a message that is being sent. `mention` is one that the user did not choose from the
   * list: it becomes the list's first item. `answered` are names that the user has decided about.
   */
  async mentioned(
    text: string,
    mention: Mention | undefined,
    answered: ReadonlySet<string> = new Set(),
  ): Promise<{ readonly text: string; readonly attachments: readonly Attachment[] }> {
    const first = mention && (await this.#firstItem(mention.text));
    const end = mention ? mention.from + 1 + mention.text.length : 0;
    const whole = mention && first ? text.slice(0, mention.from) + first.insert.trimEnd() + text.slice(end) : text;
    const names = [...whole.matchAll(/(?:^|\s)@([^\s@]{1,300})/g)].map(([, name = '']) =>
      name.replace(/[,;:!?)]$/, ''),
    );
    const others = [...new Set(names)]
      .filter((name) => `@${name}` !== first?.insert.trim() && !answered.has(name))
      .slice(0, MAX_NAMED);
    const found = await Promise.all(others.map((name) => this.#named(name)));
    return { text: whole, attachments: [...(first ? await this.attachments(first.id) : []), ...found.flat()] };
  }

  async #firstItem(typed: string): Promise<CompletionItem | undefined> {
    for (const items of this.#mentions(typed)) {
      const [first] = await items;
      if (first) return first;
    }
    return undefined;
  }

  async #named(name: string): Promise<readonly Attachment[]> {
    if (specials().some(({ id }) => id === name)) return this.attachments(name);
    const uri = await findLinkedFile(name);
    return uri ? this.#attach.uri(uri) : [];
  }

  /**
   * Shows items as soon as they are known: fixed names first, then files, then symbols, which depend on a language
   * server. A later query cancels it.
   */
  async items(trigger: '@' | '/', text: string, show: (items: readonly CompletionItem[]) => void): Promise<void> {
    this.#query += 1;
    const query = this.#query;
    let items: readonly CompletionItem[] = [];
    for (const more of trigger === '/' ? [this.#commands(text)] : this.#mentions(text)) {
      items = [...items, ...(await more)].slice(0, MAX_ITEMS);
      if (query !== this.#query) return;
      show(items);
    }
  }

  /** Creates the attachments of a chosen item. */
  async attachments(item: string): Promise<readonly Attachment[]> {
    const [kind = '', ...rest] = item.split(':');
    const value = rest.join(':');
    switch (kind) {
      case 'selection':
      case 'problems':
      case 'terminal':
      case 'diff':
        return this.#attach.named(kind);
      case 'file':
        return this.#attach.uri(vscode.Uri.parse(value, true));
      case 'symbol': {
        const symbol = this.#symbols.get(item);
        return symbol ? this.#attach.symbol(symbol.location.uri, symbol.location.range, symbol.name) : [];
      }
      default:
        return [];
    }
  }

  async #commands(text: string): Promise<readonly CompletionItem[]> {
    const own = SLASH_COMMANDS.map(({ name, detail }) => ({
      name,
      detail: vscode.l10n.t(detail),
      icon: 'terminal-cmd',
    }));
    const prompts = (await promptFiles()).map(({ name, path, description }) => ({
      name,
      detail: description ?? path,
      icon: 'note',
    }));
    const compact = { name: COMPACT, detail: vscode.l10n.t('Summarize the conversation so far'), icon: 'fold' };
    return [...own, compact, ...prompts]
      .filter(({ name }) => name.startsWith(text.toLowerCase()))
      .map(({ name, detail, icon }) => ({
        id: `command:${name}`,
        label: `/${name}`,
        detail,
        icon,
        insert: `/${name} `,
      }));
  }

  #mentions(text: string): readonly Promise<readonly CompletionItem[]>[] {
    const wanted = text.toLowerCase();
    const special = specials().filter(({ id }) => id.startsWith(wanted));
    const items = special.map(({ id, detail, icon }) => ({ id, label: `@${id}`, detail, icon, ...mention(id) }));
    return [Promise.resolve(items), this.#files(wanted), this.#symbolItems(text)];
  }

  async #files(wanted: string): Promise<CompletionItem[]> {
    const open = vscode.window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .flatMap(({ input }) => (input instanceof vscode.TabInputText ? [input.uri] : []));
    const shown = new Map([...this.#recent, ...open].map((uri) => [uri.toString(), uri]));
    const pattern = wanted === '' ? undefined : `**/*${[...wanted].map(anyCase).join('')}*`;
    const found = pattern === undefined ? [] : await vscode.workspace.findFiles(pattern, NEVER, MAX_FOUND);
    const others = found.filter((uri) => !shown.has(uri.toString()));
    const matches = (uri: vscode.Uri) => workspaceRelativePath(uri).toLowerCase().includes(wanted);
    const files = [...shown.values()].filter(matches).slice(0, MAX_FILES);
    for (const uri of others.filter(matches)) {
      if (files.length === MAX_FILES) break;
      if (await this.#isOffered(uri)) files.push(uri);
    }
    const items = files.map((uri) => {
      const path = workspaceRelativePath(uri);
      const label = path.slice(path.lastIndexOf('/') + 1);
      return { id: `file:${uri.toString()}`, label, detail: path, icon: 'file', ...mention(label) };
    });
    return [...(await this.#folders(wanted)), ...items].slice(0, MAX_ITEMS - 3);
  }

  /** Not ignored, and not behind a link that leads out of the workspace. */
  async #isOffered(uri: vscode.Uri): Promise<boolean> {
    return !(await this.#excluded.isIgnored(uri.toString())) && (await fileAt(uri)) !== undefined;
  }

  /** Finds folders by name. Only folders with files, because an empty one has no listing to attach. */
  async #folders(wanted: string): Promise<CompletionItem[]> {
    if (wanted === '') return [];
    const pattern = `**/*${[...wanted].map(anyCase).join('')}*/**`;
    const found = new Map<string, vscode.Uri>();
    for (const uri of await vscode.workspace.findFiles(pattern, NEVER, MAX_FOUND)) {
      if (found.size >= MAX_FOLDERS) break;
      const folders = foldersNamed(uri, wanted).filter((folder) => !found.has(folder.toString()));
      // Files of folders that are found already need no look at the disk.
      if (folders.length === 0 || !(await this.#isOffered(uri))) continue;
      for (const folder of folders) found.set(folder.toString(), folder);
    }
    return [...found.values()].slice(0, MAX_FOLDERS).map((uri) => {
      const path = workspaceRelativePath(uri);
      const label = `${path.slice(path.lastIndexOf('/') + 1)}/`;
      return { id: `file:${uri.toString()}`, label, detail: path, icon: 'folder', ...mention(label) };
    });
  }

  async #symbolItems(text: string): Promise<CompletionItem[]> {
    if (text.length < 2) return [];
    const symbols = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
      'vscode.executeWorkspaceSymbolProvider',
      text,
    );
    this.#symbols.clear();
    return (symbols ?? []).slice(0, 6).map((symbol, index) => {
      const id = `symbol:${index}:${symbol.name}`;
      this.#symbols.set(id, symbol);
      return {
        id,
        label: symbol.name,
        icon: 'symbol-method',
        ...mention(symbol.name),
        detail: workspaceRelativePath(symbol.location.uri),
      };
    });
  }
}

/** The name stays in the sentence, and the item becomes a chip. */
function mention(name: string): Pick<CompletionItem, 'insert' | 'attaches'> {
  return { insert: `@${name.replaceAll(/\s+/g, '-')} `, attaches: true };
}

/** The folders above a file whose names contain a text, up to the workspace folder. */
function foldersNamed(file: vscode.Uri, text: string): readonly vscode.Uri[] {
  const folders: vscode.Uri[] = [];
  for (let at = vscode.Uri.joinPath(file, '..'); isInside(at); at = vscode.Uri.joinPath(at, '..')) {
    const name = at.path.slice(at.path.lastIndexOf('/') + 1);
    if (name.toLowerCase().includes(text)) folders.push(at);
  }
  return folders;
}

/** True if `uri` is below a workspace folder and not the folder itself. */
function isInside(uri: vscode.Uri): boolean {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return folder !== undefined && folder.uri.path !== uri.path;
}

function specials(): readonly Special[] {
  return [
    { id: 'selection', detail: vscode.l10n.t('Selected code or the open file'), icon: 'list-selection' },
    { id: 'problems', detail: vscode.l10n.t('Problems of the workspace'), icon: 'warning' },
    { id: 'terminal', detail: vscode.l10n.t('Last output of the terminal'), icon: 'terminal' },
    { id: 'diff', detail: vscode.l10n.t('Changes in Git'), icon: 'git-compare' },
  ];
}

/** Escapes a character for a glob pattern and matches both cases. */
function anyCase(character: string): string {
  const lower = character.toLowerCase();
  const upper = character.toUpperCase();
  if (lower !== upper) return `[${lower}${upper}]`;
  return /[*?[\]{}!]/.test(character) ? '?' : character;
}
