import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const ROOT = join(import.meta.dirname, '..', '..');

const manifest = z
  .object({
    engines: z.object({ vscode: z.string() }),
    capabilities: z.object({
      untrustedWorkspaces: z.object({ supported: z.string(), restrictedConfigurations: z.array(z.string()) }),
      virtualWorkspaces: z.object({ supported: z.string() }),
    }),
    contributes: z.object({
      commands: z.array(z.object({ command: z.string() })),
      languageModelChatProviders: z.array(z.object({ vendor: z.string(), managementCommand: z.string() })),
      walkthroughs: z.array(z.unknown()).min(1),
      jsonValidation: z.array(z.unknown()).min(1),
    }),
    l10n: z.string(),
  })
  .loose()
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));

/** Proposed at VS Code 1.139: an extension that uses one can't be published, or is refused at run time. */
const PROPOSED = [
  ...['handleDidShowCompletionItem', 'handleDidPartiallyAcceptCompletionItem', 'handleEndOfLifetime'],
  ...['handleListEndOfLifetime', 'setCurrentModelId', 'isInlineEdit', 'displayLocation', 'completeBracketPairs'],
  ...['LanguageModelThinkingPart', 'chatSessionsProvider', 'defaultChatParticipant', 'chatOutputRenderer'],
  ...['onDidWriteTerminalData', 'contribSourceControlInputBoxMenu'],
];

describe('the manifest of the chat', () => {
  const { capabilities, contributes, engines } = manifest;

  it('manifest: is compiled against the oldest version of VS Code that it runs in, and uses no proposed API', () => {
    const types = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(join(ROOT, 'node_modules', '@types', 'vscode', 'package.json'), 'utf8')));
    assert.equal(engines.vscode, `^${types.version}`);
    assert.equal('enabledApiProposals' in manifest, false);
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => [file, readFileSync(join(ROOT, 'src', file), 'utf8')] as const);
    const used = sources.flatMap(([file, text]) =>
      PROPOSED.filter((name) => text.includes(name)).map((name) => `${file}: ${name}`),
    );
    assert.deepEqual(used, []);
  });

  it('manifest: an untrusted workspace cannot set settings that choose where text is sent', () => {
    assert.equal(capabilities.untrustedWorkspaces.supported, 'limited');
    for (const name of ['svc.chat.model', 'svc.completion.model']) {
      assert.ok(capabilities.untrustedWorkspaces.restrictedConfigurations.includes(name), name);
    }
    assert.equal(capabilities.virtualWorkspaces.supported, 'limited');
  });

  it('manifest: the management command of the VS Code model list exists', () => {
    const commands = new Set(contributes.commands.map(({ command }) => command));
    const [provider] = contributes.languageModelChatProviders;
    assert.equal(provider?.vendor, 'svc');
    assert.ok(commands.has(provider?.managementCommand ?? ''));
  });
});
