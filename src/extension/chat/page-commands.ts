import * as vscode from 'vscode';
import type { FromPageOf } from '../../protocol/chat/from-page.ts';
import type { CommandTopic } from './surface-topic.ts';

/** The only commands that cards and the composer can run. */
const COMMANDS = {
  'pick-model': 'svc.model.pick',
  'choose-tools': 'svc.chat.chooseTools',
  'add-provider': 'svc.provider.add',
  'add-local': 'svc.provider.addLocal',
  'add-gateway': 'svc.provider.addGateway',
  'import-providers': 'svc.provider.import',
  'open-settings': 'svc.config.open',
  'review-origin': 'svc.origin.review',
  'show-log': 'svc.log.show',
  'set-key': 'svc.key.set',
} as const;

/** Commands of the editor that cards and the composer offer. */
export class PageCommands implements CommandTopic {
  /** @returns the result of the command. */
  async handle(message: FromPageOf<keyof typeof COMMANDS>): Promise<unknown> {
    // Without a provider, the user chooses one.
    const values = message.type === 'set-key' ? [message.provider] : [];
    return vscode.commands.executeCommand(COMMANDS[message.type], ...values);
  }
}
