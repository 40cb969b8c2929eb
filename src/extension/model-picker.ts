import * as vscode from 'vscode';
import type { Model } from '../catalog/model.ts';
import type { Models } from './models.ts';

interface ModelItem extends vscode.QuickPickItem {
  readonly ref?: string;
}

export function registerModelPickers(models: Models): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand('svc.model.pick', async () => {
      const ref = await pick(models, models.chat, () => true, vscode.l10n.t('Model for chat'));
      if (ref !== undefined) await models.useForChat(ref);
    }),
    vscode.commands.registerCommand('svc.completion.pickModel', async () => {
      const ref = await pick(models, models.completion, ({ fim }) => fim, vscode.l10n.t('Model for completions'));
      if (ref !== undefined) await models.useForCompletion(ref);
    }),
  );
}

async function pick(
  models: Models,
  current: Model | undefined,
  suits: (model: Model) => boolean,
  title: string,
): Promise<string | undefined> {
  const items: ModelItem[] = [];
  for (const provider of models.registry?.providers.values() ?? []) {
    const offered = [...provider.models.values()].filter(suits);
    if (offered.length === 0) continue;
    const label = provider.simulated ? vscode.l10n.t('{0} (simulated)', provider.name) : provider.name;
    items.push({ label, kind: vscode.QuickPickItemKind.Separator });
    items.push(...offered.map((model) => modelItem(model, model.ref === current?.ref)));
  }
  if (items.length === 0) {
    await vscode.commands.executeCommand('svc.config.open');
    return undefined;
  }
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true });
  return chosen?.ref;
}

function modelItem(model: Model, current: boolean): ModelItem {
  return {
    label: `${current ? '$(check) ' : ''}${model.name}`,
    description: model.ref,
    detail: [contextSize(model), price(model), destination(model)].filter((text) => text !== undefined).join(' · '),
    ref: model.ref,
  };
}

function contextSize({ limit }: Model): string | undefined {
  return limit.context === 0 ? undefined : vscode.l10n.t('{0}k context', Math.round(limit.context / 1000));
}

function price({ cost }: Model): string | undefined {
  if (cost === undefined) return undefined;
  return cost.input === 0 && cost.output === 0
    ? vscode.l10n.t('free')
    : vscode.l10n.t('{0} USD in, {1} USD out per million tokens', cost.input, cost.output);
}

/** Where what a person types goes when this model is used. */
function destination({ endpoint }: Model): string | undefined {
  const base = endpoint.fimURL ?? endpoint.baseURL;
  return base !== undefined && URL.canParse(base) ? new URL(base).host : undefined;
}
