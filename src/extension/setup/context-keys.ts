import * as vscode from 'vscode';
import type { Model } from '../../catalog/model.ts';
import type { Models } from '../models/editor-models.ts';

/** Context keys for menus and for the steps of the walkthrough. */
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

/**
 * The context keys that complete the steps of the walkthrough after the user's achievements. VS Code ignores a key that
 * was set before it read the walkthrough, which may be as late as when it is opened, and later changes of that key too.
 * So these are set only for a moment, each time the walkthrough may have been opened.
 */
const STEPS = new Map<ContextKey, string>([
  ['svc.hasOwnKey', 'svc.walkthrough.ownKey'],
  ['svc.hasLocalModel', 'svc.walkthrough.localModel'],
  ['svc.hasGatewayModel', 'svc.walkthrough.gatewayModel'],
  ['svc.completionAccepted', 'svc.walkthrough.completionAccepted'],
  ['svc.chatAnswered', 'svc.walkthrough.chatAnswered'],
]);

/** Milliseconds after which VS Code has read the walkthrough that was opened, or probably has: a busy machine is slow. */
const READ_MS = [0, 1_000, 3_000, 10_000, 20_000];

/** The walkthrough is one of the tabs whose kind extensions do not know; its label is not always its title. */
function isPage({ input }: vscode.Tab): boolean {
  return input === undefined;
}

function isPageOpen(): boolean {
  return vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(isPage));
}

/** Sets context keys. A key is passed to VS Code only when its value changes. */
export class ContextKeys {
  readonly #values = new Map<ContextKey, boolean>();

  set(key: ContextKey, value: boolean): void {
    if ((this.#values.get(key) ?? false) === value) return;
    this.#values.set(key, value);
    setContext(key, value);
    if (STEPS.has(key) && isPageOpen()) this.#completeSteps();
  }

  /** Completes the steps of the walkthrough when it is opened. */
  followWalkthrough(): vscode.Disposable {
    let timers: NodeJS.Timeout[] = [];
    const stop = () => timers.forEach(clearTimeout);
    const changes = vscode.window.tabGroups.onDidChangeTabs(({ opened, changed }) => {
      if (![...opened, ...changed].some(isPage)) return;
      stop();
      timers = READ_MS.map((ms) => setTimeout(() => this.#completeSteps(), ms));
    });
    return vscode.Disposable.from(changes, { dispose: stop });
  }

  #completeSteps(): void {
    for (const [key, step] of STEPS) {
      if (this.#values.get(key) !== true) continue;
      setContext(step, true);
      setContext(step, false);
    }
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

function setContext(key: string, value: boolean): void {
  void vscode.commands.executeCommand('setContext', key, value);
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
