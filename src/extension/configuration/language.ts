import * as vscode from 'vscode';
import type { Model, Provider } from '../../catalog/model.ts';
import {
  type Knowledge,
  type ModelKey,
  type Proposal,
  proposalsAt,
  providerKeys,
  type Span,
  subjectAt,
} from '../../config/editing/assist.ts';
import { sourceLocation } from '../../config/editing/report.ts';
import type { Origin } from '../../config/settings/origin.ts';
import { testConnection } from '../../provider/list-models.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import { errorText, translate } from '../error-text.ts';
import { escapeMarkdown, markdownCode, showError, showInformation, showProgress } from '../foreign-text.ts';
import type { Models } from '../models/editor-models.ts';
import { CONFIGURATION_FILES } from './input.ts';

export interface ConfigurationLanguageDeps {
  readonly models: Models;
  readonly transport: Transport;
}

const KINDS: Record<Proposal['kind'], vscode.CompletionItemKind> = {
  provider: vscode.CompletionItemKind.Module,
  model: vscode.CompletionItemKind.Value,
  variant: vscode.CompletionItemKind.EnumMember,
  variable: vscode.CompletionItemKind.Variable,
};

/** Completion, hover, code lenses and quick fixes in configuration files. The logic is in config/editing/assist.ts. */
export function registerConfigurationLanguage(deps: ConfigurationLanguageDeps): vscode.Disposable {
  const knowledge = createKnowledge(deps.models);
  const lenses = new vscode.EventEmitter<void>();
  return vscode.Disposable.from(
    lenses,
    deps.models.onDidChange(() => lenses.fire()),
    vscode.languages.registerCompletionItemProvider(
      CONFIGURATION_FILES,
      { provideCompletionItems: (document, position) => complete(document, position, knowledge) },
      '"',
      ':',
    ),
    vscode.languages.registerHoverProvider(CONFIGURATION_FILES, {
      provideHover: (document, position) => hover(document, position, deps.models),
    }),
    vscode.languages.registerCodeLensProvider(CONFIGURATION_FILES, {
      onDidChangeCodeLenses: lenses.event,
      provideCodeLenses: (document) => codeLenses(document, deps.models),
    }),
    vscode.languages.registerCodeActionsProvider(
      CONFIGURATION_FILES,
      { provideCodeActions: (document, _range, context) => quickFixes(document, context.diagnostics) },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
    ),
    vscode.commands.registerCommand('svc.provider.test', (id: unknown) => test(deps, id)),
    vscode.commands.registerCommand('svc.provider.refreshModels', () => deps.models.rebuild()),
  );
}

function createKnowledge(models: Models): Knowledge {
  return {
    providers: () => models.knownProviders(),
    models: (provider) => models.knownModels(provider),
    refs: (key) =>
      [...(models.registry?.models.values() ?? [])].filter((model) => suits(key, model)).map(({ ref }) => ref),
    variants: (provider, model) => models.registry?.find(`${provider}/${model}`)?.variants.keys() ?? [],
    environment: () => Object.keys(process.env),
  };
}

function suits(key: ModelKey, { fim, edit }: Model): boolean {
  return key === 'model' || (key === 'completionModel' ? fim : edit !== undefined);
}

function complete(document: vscode.TextDocument, position: vscode.Position, knowledge: Knowledge) {
  const proposals = proposalsAt(document.getText(), document.offsetAt(position), knowledge);
  return proposals.map((proposal) => {
    const item = new vscode.CompletionItem(proposal.label, KINDS[proposal.kind]);
    item.insertText = proposal.text;
    item.range = toRange(document, proposal.span);
    item.filterText = document.getText(item.range).startsWith('"') ? JSON.stringify(proposal.label) : proposal.label;
    if (proposal.detail !== undefined) item.detail = proposal.detail;
    return item;
  });
}

function hover(document: vscode.TextDocument, position: vscode.Position, models: Models): vscode.Hover | undefined {
  const subject = subjectAt(document.getText(), document.offsetAt(position));
  if (!subject) return undefined;
  const range = toRange(document, subject.span);
  if (subject.kind === 'value') {
    const text = aboutValue(document, subject.path, models);
    return text && new vscode.Hover(text, range);
  }
  const provider = models.registry?.providers.get(subject.provider);
  if (!provider) return undefined;
  if (subject.kind === 'provider') return new vscode.Hover(aboutProvider(provider, models), range);
  const model = models.registry?.find(`${subject.provider}/${subject.model}`);
  return model && new vscode.Hover(aboutModel(model), range);
}

/** The effective value of a key with its source, which may be another file. */
function aboutValue(
  document: vscode.TextDocument,
  path: readonly string[],
  models: Models,
): vscode.MarkdownString | undefined {
  const { settings } = models;
  if (!settings) return undefined;
  const { t } = vscode.l10n;
  const lines = settings.values
    .at(path)
    .slice(0, MAX_VALUES)
    .map(({ path: at, value, secret, origin }) => {
      const below = at.slice(path.length).join('.');
      const shown = secret ? t('set, not shown') : markdownCode(JSON.stringify(value));
      const here =
        origin.source.path === document.uri.fsPath
          ? t('line {0}', origin.line)
          : escapeMarkdown(sourceLocation(origin));
      return `- ${below === '' ? '' : `${escapeMarkdown(below)}: `}${shown} (${here})`;
    });
  if (lines.length === 0) return new vscode.MarkdownString(t('No value is set.'));
  return new vscode.MarkdownString([t('Effective value:'), '', ...lines].join('\n'));
}

/** Maximum number of values in one hover. */
const MAX_VALUES = 20;

function aboutProvider(provider: Provider, models: Models): vscode.MarkdownString {
  const { endpoint } = provider;
  const { t } = vscode.l10n;
  const settings = models.settings?.providers.get(provider.id);
  const key = endpoint.apiKey;
  const text = new vscode.MarkdownString(undefined, true);
  text.appendMarkdown(`**${escapeMarkdown(provider.name)}**${provider.simulated ? ` (${t('simulated')})` : ''}\n\n`);
  text.appendMarkdown(
    `- ${t('Address')}: ${markdownCode(endpoint.baseURL ?? t('none'))}${from(settings?.baseURL?.origin)}\n`,
  );
  // Shows the source of the key, never the key.
  text.appendMarkdown(`- ${t('Key')}: ${key ? `${t('set')}${from(key.origin)}` : t('not set')}\n`);
  text.appendMarkdown(`- ${t('Models')}: ${provider.models.size}\n`);
  if (provider.withheld) {
    text.appendMarkdown(
      `\n$(warning) ${t('Its key is withheld: this project sends it to {0} instead of {1}.', markdownCode(provider.withheld.to), markdownCode(provider.withheld.from))}`,
    );
  }
  if (endpoint.problem !== undefined) text.appendMarkdown(`\n$(error) ${escapeMarkdown(translate(endpoint.problem))}`);
  return text;
}

function aboutModel(model: Model): vscode.MarkdownString {
  const { limit, cost } = model;
  const { t } = vscode.l10n;
  const tokens = (count: number) => (count === 0 ? t('unknown') : t('{0} tokens', count.toLocaleString('en')));
  const abilities = [
    ...(model.toolCall ? [t('tools')] : []),
    ...(model.reasoning ? [t('reasoning')] : []),
    ...(model.fim ? [t('code completion')] : []),
    ...model.modalities.input.filter((kind) => kind !== 'text'),
  ];
  const lines = [
    `**${escapeMarkdown(model.name)}** ${markdownCode(model.ref)}`,
    '',
    `- ${t('Context')}: ${tokens(limit.context)}, ${t('output')}: ${tokens(limit.output)}`,
    `- ${t('Price per million tokens')}: ${cost ? `$${cost.input} ${t('in')}, $${cost.output} ${t('out')}` : t('unknown')}`,
    ...(abilities.length > 0 ? [`- ${t('Abilities')}: ${escapeMarkdown(abilities.join(', '))}`] : []),
    ...(model.variants.size > 0
      ? [`- ${t('Variants')}: ${[...model.variants.keys()].map(markdownCode).join(', ')}`]
      : []),
    `- ${t('Known from')}: ${model.source}${from(model.origin)}`,
  ];
  return new vscode.MarkdownString(lines.join('\n'), true);
}

function from(origin: Origin | undefined): string {
  if (!origin) return '';
  const { source, line } = origin;
  return ` (${escapeMarkdown(source.path)}${source.kind === 'built-in' ? '' : `:${line}`})`;
}

function codeLenses(document: vscode.TextDocument, models: Models): vscode.CodeLens[] {
  return providerKeys(document.getText()).flatMap(({ provider, span }) => {
    const range = toRange(document, span);
    const known = models.registry?.providers.get(provider);
    if (!known) return [];
    return [
      new vscode.CodeLens(range, {
        title: vscode.l10n.t('Test connection'),
        command: 'svc.provider.test',
        arguments: [provider],
      }),
      new vscode.CodeLens(range, {
        title: vscode.l10n.t('{0} models · Refresh', known.models.size),
        command: 'svc.provider.refreshModels',
      }),
    ];
  });
}

function quickFixes(document: vscode.TextDocument, diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction[] {
  return diagnostics.flatMap((diagnostic) => {
    const suggestion = diagnostic.source === 'svc' ? /^[a-z-]+:(.+)$/s.exec(String(diagnostic.code))?.[1] : undefined;
    if (suggestion === undefined) return [];
    const action = new vscode.CodeAction(vscode.l10n.t('Change to {0}', suggestion), vscode.CodeActionKind.QuickFix);
    const quoted = document.getText(diagnostic.range).startsWith('"');
    action.edit = new vscode.WorkspaceEdit();
    action.edit.replace(document.uri, diagnostic.range, quoted ? JSON.stringify(suggestion) : suggestion);
    action.diagnostics = [diagnostic];
    action.isPreferred = true;
    return [action];
  });
}

async function test({ models, transport }: ConfigurationLanguageDeps, id: unknown): Promise<void> {
  const provider = typeof id === 'string' ? models.registry?.providers.get(id) : undefined;
  if (!provider) return;
  const { t } = vscode.l10n;
  await showProgress(
    { location: vscode.ProgressLocation.Notification, title: t('Testing {0}…', provider.name), cancellable: true },
    async (_progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => abort.abort());
      const started = performance.now();
      const result = await testConnection(provider.endpoint, {
        transport,
        signal: abort.signal,
        provider: provider.id,
      });
      const milliseconds = Math.round(performance.now() - started);
      if (result.ok) {
        void showInformation(
          t('{0} answers in {1} ms and lists {2} models.', provider.name, milliseconds, result.models.length),
        );
      } else {
        void showError(`${provider.name}: ${errorText(result.error)}`);
      }
    },
  );
}

function toRange(document: vscode.TextDocument, { offset, length }: Span): vscode.Range {
  return new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
}
