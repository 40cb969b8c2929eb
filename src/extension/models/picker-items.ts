import * as vscode from 'vscode';
import { shortTokens } from '../../base/text.ts';
import type { Model } from '../../catalog/model.ts';
import {
  type GroupedModels,
  type ModelFact,
  type ModelGroup,
  modelFacts,
  modelGroups,
} from '../../catalog/model-groups.ts';
import { isCodeModel } from '../../catalog/model-selection.ts';
import { translate } from '../error-text.ts';
import { withoutIcons } from '../foreign-text.ts';
import { quickInputButton } from '../quick-input.ts';
import type { ModelUse } from './editor-models.ts';

export interface ModelItem extends vscode.QuickPickItem {
  /** Absent for headings and the entries at the end. */
  readonly model?: Model;
  readonly run?: 'add-provider' | 'show-hidden';
}

export interface PickerContent extends GroupedModels {
  readonly use: ModelUse;
  readonly current: string | undefined;
  readonly hidden: readonly string[];
}

export const PIN = quickInputButton('pin', vscode.l10n.t('Pin to the top'));
export const UNPIN = quickInputButton('pinned', vscode.l10n.t('Unpin'));
export const HIDE = quickInputButton('eye-closed', vscode.l10n.t('Hide this model'));
export const EDIT = quickInputButton('edit', vscode.l10n.t('Edit the provider'));

/** The models by group, followed by the other actions. */
export function pickerItems(content: PickerContent): ModelItem[] {
  const { hidden } = content;
  const separator = (label: string) => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const items: ModelItem[] = modelGroups(content).flatMap((group) => [
    separator(groupHeading(group)),
    ...group.models.map((model) => modelItem(model, content)),
  ]);
  items.push(separator(''));
  items.push({ label: `$(add) ${vscode.l10n.t('Add a provider…')}`, run: 'add-provider', alwaysShow: true });
  if (hidden.length > 0) {
    items.push({ label: `$(eye) ${vscode.l10n.t('Show hidden models ({0})…', hidden.length)}`, run: 'show-hidden' });
  }
  return items;
}

function groupHeading({ of }: ModelGroup): string {
  if (of === 'pinned') return vscode.l10n.t('Pinned');
  if (of === 'recent') return vscode.l10n.t('Recently used');
  return withoutIcons(of.simulated ? vscode.l10n.t('{0} (simulated)', of.name) : of.name);
}

function modelItem(model: Model, { use, current, pinned, registry }: PickerContent): ModelItem {
  const simulated = registry?.providers.get(model.provider)?.simulated ? [vscode.l10n.t('simulated')] : [];
  const { problem } = model.endpoint;
  const warning = problem === undefined ? [] : [`$(warning) ${withoutIcons(translate(problem))}`];
  const unsuited =
    use === 'completion' && !isCodeModel(model) ? [vscode.l10n.t('not made for completion: may be slow or poor')] : [];
  return {
    label: `${model.ref === current ? '$(check) ' : ''}${withoutIcons(model.name)}`,
    description: withoutIcons(model.ref),
    detail: [...simulated, ...modelFacts(model).map(factText), ...unsuited, ...warning].join(' · '),
    model,
    buttons: [pinned.includes(model.ref) ? UNPIN : PIN, HIDE, EDIT],
  };
}

/** The text of a fact. The picker searches it too. */
function factText(fact: ModelFact): string {
  const { t } = vscode.l10n;
  switch (fact.kind) {
    case 'context':
      return fact.trained === undefined
        ? t('{0} context', shortTokens(fact.tokens))
        : t('{0} of {1} context served', shortTokens(fact.tokens), shortTokens(fact.trained)) + larger(fact.command);
    case 'price':
      return t('{0} USD in, {1} USD out per million tokens', fact.input, fact.output);
    case 'free':
      return t('free');
    case 'images':
      return t('images');
    case 'pdf':
      return 'PDF';
    case 'tools':
      return t('tools');
    case 'reasoning':
      return t('reasoning');
    case 'completions':
      return t('completions');
    case 'next-edits':
      return t('next edits');
    case 'destination':
      return t('to {0}', fact.host);
  }
}

/** How the server is started with a larger window. */
function larger(command: string | undefined): string {
  return command === undefined ? '' : ` (${withoutIcons(command)})`;
}
