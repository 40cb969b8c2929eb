import * as vscode from 'vscode';

/** A button of an item in a list. @param icon name of a codicon. */
export function quickInputButton(icon: string, tooltip: string): vscode.QuickInputButton {
  return { iconPath: new vscode.ThemeIcon(icon), tooltip };
}

/**
 * Shows a list until `finish` is called or the user closes it, and disposes it.
 *
 * @param listen registers the listeners of the list. @returns undefined if the list was closed.
 */
export function choiceIn<Choice>(
  picker: vscode.QuickInput,
  listen: (finish: (choice: Choice | undefined) => void) => unknown,
): Promise<Choice | undefined> {
  return new Promise((resolve) => {
    listen((choice) => {
      resolve(choice);
      picker.hide();
    });
    // The last listener, because no other one is called after the disposal.
    picker.onDidHide(() => {
      resolve(undefined);
      picker.dispose();
    });
    picker.show();
  });
}
