import * as vscode from 'vscode';
import type { EditLayout } from '../../../completion/next-edit/edit-layout.ts';
import type { NextEdit, NextEditTitle } from '../../../completion/next-edit/next-edit.ts';

/** Where accepting or jumping leads. */
export type EditTarget =
  /** The whole edit is on screen: the key accepts it. */
  | { readonly kind: 'here' }
  | { readonly kind: 'line'; readonly line: number }
  | { readonly kind: 'file'; readonly path: string; readonly line: number };

const MAX_TITLE = 60;

/** The text at the end of the cursor's line: key, target, and the effect of accepting. */
export function editLabel(key: string, target: EditTarget, edit: NextEdit, layout?: EditLayout): string {
  const { t } = vscode.l10n;
  const what = describeChange(edit, target, layout);
  const more = edit.following > 0 ? ` ${t('(+{0} more)', edit.following)}` : '';
  return `${key}: ${withTarget(target, what)}${more}`;
}

/** The edit in a sentence, for the status bar and screen readers. */
export function describeEdit(target: EditTarget, edit: NextEdit): string {
  const what = shorten(describeTitle(edit.title));
  if (target.kind === 'here') return vscode.l10n.t('Next edit: {0}', what);
  return vscode.l10n.t('Next edit: {0}', withTarget(target, what));
}

/** The second key, which is never used for anything else. The platform of the keyboard is unknown for remote windows. */
export function secondKey(): string {
  const local = vscode.env.remoteName === undefined && vscode.env.uiKind === vscode.UIKind.Desktop;
  if (!local) return 'Alt+L / ⌃⌥L';
  return process.platform === 'darwin' ? '⌃⌥L' : 'Alt+L';
}

function withTarget(target: EditTarget, what: string): string {
  const { t } = vscode.l10n;
  switch (target.kind) {
    case 'here':
      return what;
    case 'line':
      return t('line {0}, {1}', target.line + 1, what);
    case 'file':
      return t('{0}, line {1}, {2}', target.path, target.line + 1, what);
  }
}

function describeChange(edit: NextEdit, target: EditTarget, layout: EditLayout | undefined): string {
  const { t } = vscode.l10n;
  // The change itself is on screen.
  const drawn = target.kind === 'here' && edit.title.kind === 'change';
  const what = drawn ? t('accept') : shorten(describeTitle(edit.title));
  const { unseen } = layout ?? {};
  if (target.kind === 'here' && unseen) return `${what} ${t('({0} → {1} lines)', unseen.before, unseen.after)}`;
  const places = edit.replacements.length;
  return places > 1 ? `${what} ${t('({0} places)', places)}` : what;
}

function describeTitle(title: NextEditTitle): string {
  const { t } = vscode.l10n;
  switch (title.kind) {
    case 'rename':
      return t('rename to {0}', title.name);
    case 'quick-fix':
      return title.title;
    case 'change':
      return title.line;
    case 'delete':
      return title.lines === 1 ? t('delete 1 line') : t('delete {0} lines', title.lines);
  }
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE)}…`;
}
