import * as vscode from 'vscode';
import type { Model } from '../../catalog/model.ts';
import { variantChoices } from '../../catalog/model-groups.ts';
import { isCodeModel } from '../../catalog/model-selection.ts';
import { showInformation, withoutIcons } from '../foreign-text.ts';
import { MOVES_FOCUS } from '../moves-focus.ts';
import { choiceIn } from '../quick-input.ts';
import type { Models, ModelUse } from './editor-models.ts';
import { EDIT, HIDE, type ModelItem, PIN, pickerItems, UNPIN } from './picker-items.ts';

/** @param listed opens a list that is about the chat. */
export function registerModelPickers(
  models: Models,
  listed: (open: () => Promise<unknown>) => Promise<unknown>,
): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand('svc.model.pick', () => listed(() => pickChatModel(models))),
    vscode.commands.registerCommand('svc.model.pickVariant', () =>
      listed(async () => {
        const model = models.chat;
        if (model) await pickVariant(models, model);
      }),
    ),
    vscode.commands.registerCommand('svc.completion.pickModel', async () => {
      const model = await pick(models, 'completion');
      if (model === undefined || model === MOVES_FOCUS) return;
      await models.use('completion', model.ref);
      if (!isCodeModel(model)) await warnAboutChatModel(model);
    }),
    vscode.commands.registerCommand('svc.nextEdit.pickModel', async () => {
      const model = await pick(models, 'nextEdit');
      if (model !== undefined && model !== MOVES_FOCUS) await models.use('nextEdit', model.ref);
    }),
  );
}

async function warnAboutChatModel({ name }: Model): Promise<void> {
  const { t } = vscode.l10n;
  const other = t('Choose Another Model');
  const text = t('{0} is not made for code completion. Its suggestions may be slow or poor.', name);
  if ((await showInformation(text, other)) === other) {
    await vscode.commands.executeCommand('svc.completion.pickModel');
  }
}

async function pickChatModel(models: Models): Promise<unknown> {
  const model = await pick(models, 'chat');
  if (model === undefined || model === MOVES_FOCUS) return model;
  return model.variants.size === 0 ? models.useForChat(model.ref) : pickVariant(models, model);
}

/** The second step, for a model with variants. Closing it keeps the current variant. */
async function pickVariant(models: Models, model: Model): Promise<void> {
  const current = models.chat?.ref === model.ref ? models.chatVariant : undefined;
  const items = variantChoices(model, current).map(({ name, current: chosen }) => ({
    label: `${chosen ? '$(check) ' : ''}${name ?? vscode.l10n.t('No variant')}`,
    name,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Variant of {0}', model.name),
    ignoreFocusOut: true,
  });
  await models.useForChat(model.ref, chosen ? chosen.name : current);
}

/** `MOVES_FOCUS`: the user went on to the page of a provider. */
type Choice = Model | typeof MOVES_FOCUS | undefined;

/** Uses a native list, which supports keyboard, screen readers and themes. */
async function pick(models: Models, use: ModelUse): Promise<Choice> {
  const picker = vscode.window.createQuickPick<ModelItem>();
  picker.title = pickerTitle(use);
  picker.placeholder = pickerPlaceholder(models, use);
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  // The chat gets the focus when its list is closed: a click elsewhere does not close it.
  picker.ignoreFocusOut = use === 'chat';
  const draw = () => fillPicker(picker, models, use);
  const changes = models.onDidChange(draw);
  draw();
  const choice = await choiceIn<ModelItem | typeof MOVES_FOCUS>(picker, (finish) => {
    picker.onDidTriggerItemButton(async ({ item, button }) => {
      if (item.model && (await press(models, item.model, button)) === 'leave') finish(MOVES_FOCUS);
      else draw();
    });
    // VS Code names selected items by their index in the list that it shows. If the list has just been drawn again,
    // that index is another model here, and `activeItems` has the focused one.
    picker.onDidAccept(() => finish(picker.activeItems[0] ?? picker.selectedItems[0]));
  });
  changes.dispose();
  if (choice === undefined || choice === MOVES_FOCUS) return choice;
  return choice.run === undefined ? choice.model : follow(models, use, choice.run);
}

function pickerTitle(use: ModelUse): string {
  switch (use) {
    case 'chat':
      return vscode.l10n.t('Model for chat');
    case 'completion':
      return vscode.l10n.t('Model for completions');
    case 'nextEdit':
      return vscode.l10n.t('Model for next edits');
  }
}

function pickerPlaceholder(models: Models, use: ModelUse): string {
  const { t } = vscode.l10n;
  if (use === 'chat') return t('Search by name, ability or price');
  if (use === 'nextEdit' && ![...(models.registry?.models.values() ?? [])].some(isEligible(use)))
    return t('No model for next edits yet. Add Sweep, Zeta or Mercury Edit.');
  return t('Search by name, ability or price. The code around the cursor is sent to the model’s provider.');
}

function isEligible(use: ModelUse): (model: Model) => boolean {
  switch (use) {
    case 'chat':
      return () => true;
    case 'completion':
      return ({ fim }) => fim;
    case 'nextEdit':
      return ({ edit }) => edit !== undefined;
  }
}

function fillPicker(picker: vscode.QuickPick<ModelItem>, models: Models, use: ModelUse): void {
  const active = picker.activeItems[0]?.model?.ref;
  const current = models[use];
  picker.keepScrollPosition = true;
  picker.busy = models.registry === undefined;
  const items = pickerItems({
    registry: models.registry,
    isEligible: isEligible(use),
    use,
    current: current?.ref,
    pinned: models.pinned,
    recent: models.recent(use),
    hidden: models.hidden,
  });
  // Drawn again without need, the list loses an item that was reached or filtered a moment ago.
  if (items.map(shownOf).join() === picker.items.map(shownOf).join()) return;
  picker.items = items;
  const wanted = active ?? current?.ref;
  const item = picker.items.find(({ model }) => model && model.ref === wanted);
  if (item) picker.activeItems = [item];
}

/** All that is seen of an item, as a text. */
function shownOf({ label, description, detail, buttons }: ModelItem): string {
  return JSON.stringify([label, description, detail, buttons?.map(({ tooltip }) => tooltip)]);
}

/** Does what an item stands for that is no model. */
async function follow(models: Models, use: ModelUse, run: NonNullable<ModelItem['run']>): Promise<Choice> {
  // One of those that are shown again may be the model that the user looks for.
  if (run === 'show-hidden') return (await showHidden(models)) ? pick(models, use) : undefined;
  void vscode.commands.executeCommand('svc.provider.add');
  return MOVES_FOCUS;
}

async function press(models: Models, model: Model, button: vscode.QuickInputButton): Promise<'stay' | 'leave'> {
  switch (button) {
    case PIN:
    case UNPIN:
      await models.pin(model.ref, button === PIN);
      return 'stay';
    case HIDE:
      await models.hide(model.ref, true);
      return 'stay';
    case EDIT:
      void vscode.commands.executeCommand('svc.provider.edit', model.provider);
      return 'leave';
    default:
      return 'stay';
  }
}

/** @returns whether models are shown again. */
async function showHidden(models: Models): Promise<boolean> {
  const items = models.hidden.map((ref) => ({ label: withoutIcons(ref), ref }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Hidden models'),
    placeHolder: vscode.l10n.t('Choose models to show again'),
    canPickMany: true,
    ignoreFocusOut: true,
  });
  for (const { ref } of chosen ?? []) await models.hide(ref, false);
  return chosen !== undefined && chosen.length > 0;
}
