import * as vscode from 'vscode';

// The only calls of VS Code's notifications and progress: a lint rule forbids others (lint/foreign-text.grit).

/**
 * Texts of providers, projects and gateways are shown as text. VS Code makes a link of `[label](command:…)` in a
 * notification and in a progress title, and a click runs any command with its arguments. A space ends that form
 * (VS Code, `parseLinkedText`).
 */
export function withoutLinks(text: string): string {
  return text.replaceAll('](', '] (');
}

/** A text in Markdown that is shown as it is. */
export function escapeMarkdown(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_{}[\]()#+\-.!|<>&~$:@]/g, '\\$&');
}

/** A text as Markdown code, which has no links, pictures or icons. */
export function markdownCode(text: string): string {
  return `\`${text.replaceAll(/\s+/g, ' ').replaceAll('`', '´')}\``;
}

/** A text in a label that may contain icons (`$(name)`), without icons of its own. */
export function withoutIcons(text: string): string {
  return text.replaceAll('$(', '$ (');
}

/** @returns the chosen button, undefined if the notification was closed. */
export function showInformation(text: string, ...buttons: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showInformationMessage(withoutLinks(text), ...buttons);
}

export function showWarning(text: string, ...buttons: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showWarningMessage(withoutLinks(text), ...buttons);
}

export function showError(text: string, ...buttons: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showErrorMessage(withoutLinks(text), ...buttons);
}

/** A question that has to be answered before anything else. @returns the chosen button, undefined if it was closed. */
export function ask(
  question: string,
  options: { readonly detail?: string },
  ...buttons: readonly string[]
): Thenable<string | undefined> {
  const detail = options.detail === undefined ? {} : { detail: withoutLinks(options.detail) };
  return vscode.window.showWarningMessage(withoutLinks(question), { modal: true, ...detail }, ...buttons);
}

/** A text with details, until it is closed. */
export function showDetails(text: string, detail: string): Thenable<string | undefined> {
  return vscode.window.showInformationMessage(withoutLinks(text), { modal: true, detail: withoutLinks(detail) });
}

/** Shows that work is running. @param options as of VS Code. */
export function showProgress<T>(
  options: vscode.ProgressOptions,
  work: (
    progress: vscode.Progress<{ message?: string; increment?: number }>,
    token: vscode.CancellationToken,
  ) => Thenable<T>,
): Thenable<T> {
  const { title, ...rest } = options;
  return vscode.window.withProgress({ ...rest, ...(title === undefined ? {} : { title: withoutLinks(title) }) }, work);
}
