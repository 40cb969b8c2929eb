import { randomUUID } from 'node:crypto';
import type * as vscode from 'vscode';
import { outputCap } from '../../catalog/limits.ts';
import type { ModelSetup } from '../../catalog/model-setup.ts';
import type { Converse, SessionDeps } from '../../chat/session/session-deps.ts';
import type { ExcludedFiles } from '../completion/excluded-files.ts';
import type { PurposeTransport } from '../editor-transport.ts';
import type { Models } from '../models/editor-models.ts';

export interface ChatViewDeps extends SessionDeps {
  /** Whether requests go only to this machine and the user’s networks. */
  readonly localOnly: () => boolean;
  /** Called with the address of each web page that is fetched. */
  readonly fetched: (url: string) => void;
  readonly extension: vscode.Uri;
  /** Stores the conversation in the side bar. */
  readonly drafts: vscode.Memento;
  /** Folder for conversations. */
  readonly storage: vscode.Uri;
  readonly log: vscode.LogOutputChannel;
  readonly onModelChange: vscode.Event<void>;
  readonly setup: () => ModelSetup;
  /** The files that lists do not offer. */
  readonly excluded: Pick<ExcludedFiles, 'isIgnored'>;
}

export interface ChatFeatureDeps {
  readonly context: vscode.ExtensionContext;
  readonly models: Models;
  readonly transport: PurposeTransport;
  readonly converse: Converse;
  readonly log: vscode.LogOutputChannel;
  readonly excluded: ExcludedFiles;
  /** Called after each answer without an error. */
  readonly answered: () => void;
}

/** The chat's dependencies in the editor. */
export function chatViewDeps(deps: ChatFeatureDeps): ChatViewDeps {
  const { context, models, transport, converse, log, excluded, answered } = deps;
  return {
    excluded,
    extension: context.extensionUri,
    drafts: context.workspaceState,
    storage: context.globalStorageUri,
    log,
    newId: randomUUID,
    now: Date.now,
    onModelChange: models.onDidChange,
    converse: whenAnswered(converse, answered),
    outputCap: outputCap(process.env).cap,
    localOnly: () => transport.isRestricted,
    fetched: transport.note,
    setup: () => models.setup,
    providerName: models.providerName,
    model: (wanted) => {
      const named = wanted === undefined ? undefined : models.named(wanted);
      const model = named ?? models.chat;
      if (!model) return undefined;
      const { ref, name, provider } = model;
      const variant = named ? undefined : models.chatVariant;
      const chosen = variant === undefined ? {} : { variant };
      return { model, label: { ref, name, provider, simulated: models.isSimulated(model), ...chosen } };
    },
  };
}

/** Calls `answered` after an answer without an error. */
function whenAnswered(send: Converse, answered: () => void): Converse {
  return async function* (...request) {
    for await (const event of send(...request)) {
      if (event.type === 'finish') answered();
      yield event;
    }
  };
}
