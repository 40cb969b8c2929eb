import * as vscode from 'vscode';
import { exportJson, exportMarkdown, importJson } from '../../chat/history/export.ts';
import type { ListedConversation, StoredConversation } from '../../chat/history/history.ts';
import { shortTime, type TimeGroup, timeGroup } from '../../chat/history/time-groups.ts';
import { asSvcError } from '../../wire/errors/svc-error.ts';
import { errorText } from '../error-text.ts';
import { ask, showError, withoutIcons } from '../foreign-text.ts';
import { choiceIn, quickInputButton } from '../quick-input.ts';
import type { Conversations } from './conversations.ts';
import { decodeContent } from './tools/file-text.ts';

interface HistoryItem extends vscode.QuickPickItem {
  readonly listed?: ListedConversation;
}

const BUTTONS = {
  pin: quickInputButton('pin', vscode.l10n.t('Pin')),
  unpin: quickInputButton('pinned', vscode.l10n.t('Unpin')),
  rename: quickInputButton('edit', vscode.l10n.t('Rename')),
  generateTitle: quickInputButton('sparkle', vscode.l10n.t('Generate title')),
  export: quickInputButton('export', vscode.l10n.t('Export')),
  remove: quickInputButton('trash', vscode.l10n.t('Delete')),
};

type Choice =
  | { readonly open: string }
  | { readonly act: vscode.QuickInputButton; readonly listed: ListedConversation; readonly query: string };

/** Lets the user choose a conversation. Typing also searches the texts. Resolves with the id. */
export async function pickConversation(conversations: Conversations, workspace: string): Promise<string | undefined> {
  let query = '';
  for (;;) {
    const choice = await choose(conversations, workspace, query);
    if (choice === undefined) return undefined;
    if ('open' in choice) return choice.open;
    // The dialog of a button closes the list: show it again with the same query.
    query = choice.query;
    await act(conversations, choice.listed, choice.act);
  }
}

function choose(conversations: Conversations, workspace: string, query: string): Promise<Choice | undefined> {
  const picker = vscode.window.createQuickPick<HistoryItem>();
  picker.title = vscode.l10n.t('Conversations');
  picker.placeholder = vscode.l10n.t('Search titles and texts');
  picker.ignoreFocusOut = true;
  picker.value = query;
  let latestQuery = 0;
  const refresh = async () => {
    latestQuery += 1;
    const requested = latestQuery;
    const found = await conversations.history.search(picker.value);
    if (requested === latestQuery) picker.items = createItems(found, workspace);
  };
  let searching = Promise.resolve();
  const search = () => {
    searching = refresh();
  };
  search();
  return choiceIn<Choice>(picker, (finish) => {
    picker.onDidChangeValue(search);
    picker.onDidTriggerItemButton(({ item: { listed }, button }) => {
      if (listed) finish({ act: button, listed, query: picker.value });
    });
    picker.onDidAccept(async () => {
      // Wait for the search: Enter directly after a key must apply to its results, not to the earlier list.
      await searching;
      const active = picker.items.find((item) => picker.activeItems.includes(item));
      const { listed } = active ?? picker.items.find((item) => item.listed) ?? {};
      finish(listed && { open: listed.id });
    });
  });
}

function createItems(found: readonly ListedConversation[], workspace: string): HistoryItem[] {
  const group = (label: string, rows: readonly ListedConversation[]): HistoryItem[] =>
    rows.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...rows.map(createItem)];
  const pinned = found.filter(({ pinned }) => pinned);
  const rest = found.filter(({ pinned }) => !pinned);
  const now = Date.now();
  const here = (wanted: TimeGroup) =>
    rest.filter((each) => each.workspace === workspace && timeGroup(each.changedAt, now) === wanted);
  const elsewhere = rest.filter((each) => each.workspace !== workspace);
  const all = [
    ...group(vscode.l10n.t('Pinned'), pinned),
    ...group(vscode.l10n.t('Today'), here('today')),
    ...group(vscode.l10n.t('Yesterday'), here('yesterday')),
    ...group(vscode.l10n.t('Last 7 days'), here('week')),
    ...group(vscode.l10n.t('Older'), here('older')),
    ...group(vscode.l10n.t('Other workspaces'), elsewhere),
  ];
  return all.length > 0 ? all : [{ label: vscode.l10n.t('No conversation yet'), alwaysShow: true }];
}

function createItem(listed: ListedConversation): HistoryItem {
  const { pinned, changedAt } = listed;
  return {
    label: withoutIcons(displayTitle(listed)),
    description: shortTime(changedAt, Date.now(), vscode.env.language),
    // The search includes the texts, so VS Code must not filter again by the visible labels.
    alwaysShow: true,
    buttons: [
      pinned ? BUTTONS.unpin : BUTTONS.pin,
      BUTTONS.rename,
      BUTTONS.generateTitle,
      BUTTONS.export,
      BUTTONS.remove,
    ],
    listed,
  };
}

function displayTitle({ title }: Pick<ListedConversation, 'title'>): string {
  return title || vscode.l10n.t('Untitled');
}

async function act(
  conversations: Conversations,
  listed: ListedConversation,
  button: vscode.QuickInputButton,
): Promise<void> {
  switch (button) {
    case BUTTONS.pin:
    case BUTTONS.unpin:
      return conversations.amend(listed, { type: 'pin', pinned: !listed.pinned });
    case BUTTONS.rename: {
      const title = await vscode.window.showInputBox({
        title: vscode.l10n.t('Name of the conversation'),
        value: listed.title,
        ignoreFocusOut: true,
      });
      if (title?.trim()) await conversations.amend(listed, { type: 'title', title: title.trim() });
      return;
    }
    case BUTTONS.generateTitle: {
      const conversation = await conversations.open(listed.id);
      try {
        await conversations.hold(conversation, () => conversation.session.generateTitle());
      } catch (error) {
        void showError(errorText(asSvcError(error)));
      }
      await conversation.kept();
      return;
    }
    case BUTTONS.export: {
      const whole = await conversations.history.load(listed.id);
      if (whole) await exportConversation(whole);
      return;
    }
    case BUTTONS.remove:
      return removeConversation(conversations, listed);
  }
}

export async function exportConversation({ transcript }: Pick<StoredConversation, 'transcript'>): Promise<void> {
  const name = transcript.title.replaceAll(/[^\p{L}\p{N} -]/gu, '').trim() || 'conversation';
  const target = await vscode.window.showSaveDialog({
    filters: { Markdown: ['md'], JSON: ['json'] },
    defaultUri: vscode.Uri.joinPath(vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file('/'), `${name}.md`),
  });
  if (!target) return;
  const text = target.path.endsWith('.json') ? exportJson(transcript) : exportMarkdown(transcript);
  await vscode.workspace.fs.writeFile(target, Buffer.from(text));
}

/** @returns the id of the imported conversation. */
export async function importConversation(
  conversations: Conversations,
  newId: () => string,
  workspace: string,
): Promise<string | undefined> {
  const [file] = (await vscode.window.showOpenDialog({ filters: { JSON: ['json'] } })) ?? [];
  if (!file) return undefined;
  const transcript = importJson(await decodeContent(file, await vscode.workspace.fs.readFile(file)));
  if (!transcript) {
    void showError(vscode.l10n.t('{0} is not an exported conversation.', file.path));
    return undefined;
  }
  const id = newId();
  await conversations.history.keep({ id, createdAt: conversations.history.now, workspace }, transcript);
  return id;
}

async function removeConversation(conversations: Conversations, { id, title }: ListedConversation): Promise<void> {
  const remove = vscode.l10n.t('Delete');
  const question = vscode.l10n.t('Delete “{0}”? This can’t be undone.', displayTitle({ title }));
  const answer = await ask(question, {}, remove);
  if (answer === remove) await conversations.remove(id);
}
