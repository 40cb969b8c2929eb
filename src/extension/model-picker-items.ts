import * as vscode from 'vscode';
import type { Model } from '../catalog/model.ts';
import type { Registry } from '../catalog/registry.ts';

export interface ModelItem extends vscode.QuickPickItem {
  /** Absent: a heading, or one of the entries at the end. */
  readonly model?: Model;
  readonly run?: 'add-provider' | 'show-hidden';
}

export interface PickerContent {
  readonly registry: Registry | undefined;
  readonly suits: (model: Model) => boolean;
  readonly current: string | undefined;
  readonly pinned: readonly string[];
  readonly recent: readonly string[];
  readonly hidden: readonly string[];
}

export const PIN: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('pin'),
  tooltip: vscode.l10n.t('Pin to the top'),
};
export const UNPIN: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('pinned'),
  tooltip: vscode.l10n.t('Unpin'),
};
export const HIDE: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('eye-closed'),
  tooltip: vscode.l10n.t('Hide this model'),
};
export const EDIT: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('edit'),
  tooltip: vscode.l10n.t('Edit the provider'),
};

const MOST_RECENT = 4;

/** Pinned, recently used, then by provider; each model once. */
export function pickerItems(content: PickerContent): ModelItem[] {
  const { registry, suits, pinned, recent, hidden } = content;
  const offered = [...(registry?.models.values() ?? [])].filter(suits);
  const byRef = new Map(offered.map((model) => [model.ref, model]));
  const known = (refs: readonly string[]) => refs.map((ref) => byRef.get(ref)).filter((model) => model !== undefined);
  const top = known(pinned);
  const last = known(recent)
    .filter(({ ref }) => !pinned.includes(ref))
    .slice(0, MOST_RECENT);
  const above = new Set([...top, ...last]);
  const items = [
    ...group(vscode.l10n.t('Pinned'), top, content),
    ...group(vscode.l10n.t('Recently used'), last, content),
  ];
  for (const provider of registry?.providers.values() ?? []) {
    const label = provider.simulated ? vscode.l10n.t('{0} (simulated)', provider.name) : provider.name;
    const models = [...provider.models.values()].filter((model) => suits(model) && !above.has(model));
    items.push(...group(label, models, content));
  }
  items.push({ label: '', kind: vscode.QuickPickItemKind.Separator });
  items.push({ label: `$(add) ${vscode.l10n.t('Add a provider …')}`, run: 'add-provider', alwaysShow: true });
  if (hidden.length > 0) {
    items.push({ label: `$(eye) ${vscode.l10n.t('Show hidden models ({0}) …', hidden.length)}`, run: 'show-hidden' });
  }
  return items;
}

function group(label: string, models: readonly Model[], content: PickerContent): ModelItem[] {
  if (models.length === 0) return [];
  return [{ label, kind: vscode.QuickPickItemKind.Separator }, ...models.map((model) => modelItem(model, content))];
}

function modelItem(model: Model, { current, pinned, registry }: PickerContent): ModelItem {
  const provider = registry?.providers.get(model.provider);
  const simulated = provider?.simulated ? [vscode.l10n.t('simulated')] : [];
  const problem = model.endpoint.problem === undefined ? [] : [`$(warning) ${model.endpoint.problem}`];
  const details = [...simulated, ...facts(model), ...problem];
  return {
    label: `${model.ref === current ? '$(check) ' : ''}${model.name}`,
    description: model.ref,
    detail: details.join(' · '),
    model,
    buttons: [pinned.includes(model.ref) ? UNPIN : PIN, HIDE, EDIT],
  };
}

/** Context size, price, abilities and where text goes: all of it can be searched for. */
export function facts(model: Model): readonly string[] {
  const { limit, toolCall, reasoning, modalities, fim } = model;
  const { t } = vscode.l10n;
  return [
    ...(limit.context === 0 ? [] : [t('{0} context', tokens(limit.context))]),
    ...price(model),
    ...(modalities.input.includes('image') ? [t('images')] : []),
    ...(modalities.input.includes('pdf') ? ['PDF'] : []),
    ...(toolCall ? [t('tools')] : []),
    ...(reasoning ? [t('reasoning')] : []),
    ...(fim ? [t('completions')] : []),
    ...destination(model),
  ];
}

function tokens(count: number): string {
  return count >= 1_000_000 ? `${Number((count / 1_000_000).toFixed(1))}M` : `${Math.round(count / 1000)}k`;
}

function price({ cost }: Model): string[] {
  if (cost === undefined) return [];
  if (cost.input === 0 && cost.output === 0) return [vscode.l10n.t('free')];
  return [vscode.l10n.t('{0} USD in, {1} USD out per million tokens', cost.input, cost.output)];
}

/** Where what a person types goes when this model is used. */
function destination({ endpoint, fim }: Model): string[] {
  const base = (fim ? endpoint.fimURL : undefined) ?? endpoint.baseURL;
  return base !== undefined && URL.canParse(base) ? [vscode.l10n.t('to {0}', new URL(base).host)] : [];
}
