import * as vscode from 'vscode';
import type { Model } from '../../catalog/model.ts';
import type { Models } from '../models/editor-models.ts';

/** Context keys for menus and for the steps of the walkthrough, which are complete when the user has succeeded. */
const KEYS = [
  'svc.hasModel',
  'svc.hasCompletionModel',
  'svc.hasOwnKey',
  'svc.hasLocalModel',
  'svc.hasGatewayModel',
  'svc.hasProvider',
  'svc.hasVariants',
  'svc.keyWithheld',
  'svc.snoozing',
  'svc.gatewayRunning',
  'svc.completionRequested',
  'svc.completionAccepted',
  'svc.chatAnswered',
  'svc.nextEdit.visible',
  'svc.nextEdit.armed',
] as const;

export type ContextKey = (typeof KEYS)[number];

/** Sets context keys. A key is passed to VS Code only when its value changes. */
export class ContextKeys {
  readonly #values = new Map<ContextKey, boolean>();

  set(key: ContextKey, value: boolean): void {
    if ((this.#values.get(key) ?? false) === value) return;
    this.#values.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  }

  /** Keeps the keys about models up to date. */
  follow(models: Models): vscode.Disposable {
    const update = () => {
      const { registry } = models;
      const real = [...(registry?.models.values() ?? [])].filter(
        ({ provider }) => !registry?.providers.get(provider)?.simulated,
      );
      const ways = new Set(real.map(setupWay));
      const providers = [...(registry?.providers.values() ?? [])];
      this.set('svc.hasProvider', (models.settings?.providers.size ?? 0) > 0);
      this.set('svc.hasVariants', (models.chat?.variants.size ?? 0) > 0);
      this.set(
        'svc.keyWithheld',
        providers.some(({ withheld }) => withheld !== undefined),
      );
      this.set('svc.hasModel', models.chat !== undefined);
      this.set('svc.hasCompletionModel', models.completion !== undefined);
      this.set('svc.hasOwnKey', ways.has('own-key'));
      this.set('svc.hasLocalModel', ways.has('local'));
      this.set('svc.hasGatewayModel', ways.has('gateway'));
    };
    update();
    return models.onDidChange(update);
  }
}

/** The three ways to get a model. */
type SetupWay = 'own-key' | 'local' | 'gateway';

/** The way in which the user got this model. */
function setupWay({ endpoint }: Model): SetupWay {
  if (endpoint.kind === 'svc') return 'gateway';
  return isLoopback(endpoint.baseURL ?? '') ? 'local' : 'own-key';
}

function isLoopback(address: string): boolean {
  return URL.canParse(address) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(address).hostname);
}
