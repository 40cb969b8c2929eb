// A language whose server is dead: its definitions never come, and its type definitions are places that do not exist.
const vscode = require('vscode');

exports.activate = ({ subscriptions }) => {
  const language = { language: 'toy' };
  subscriptions.push(
    vscode.languages.registerDefinitionProvider(language, { provideDefinition: () => new Promise(() => undefined) }),
    vscode.languages.registerTypeDefinitionProvider(language, {
      provideTypeDefinition: ({ uri }) => [
        new vscode.Location(vscode.Uri.joinPath(uri, '..', 'missing.toy'), new vscode.Position(9_999, 9)),
        new vscode.Location(vscode.Uri.parse('unknown:/a.toy'), new vscode.Position(0, 0)),
      ],
    }),
  );
};
