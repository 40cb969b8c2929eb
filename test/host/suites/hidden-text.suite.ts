import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { NO_RULES, type RuleTexts } from '../../../src/chat/permissions/permission-rules.ts';
import { ToolRunner } from '../../../src/chat/tools/tool-runner.ts';
import { type ChatTool, toolKey } from '../../../src/chat/tools/tools.ts';
import { Proposals } from '../../../src/extension/chat/editing/proposals.ts';
import { CommandTerminals } from '../../../src/extension/chat/tools/command-terminals.ts';
import { editorTool } from '../../../src/extension/chat/tools/editor-tools.ts';
import { changingTools, harmlessTools } from '../../../src/extension/chat/tools/own-tools.ts';
import { workspaceFolder } from './until.ts';

/** A word that the model knows. The rest of its line is what it must not learn. */
const WORD = 'canaryWord';
const HIDDEN = 'hidden-half';
const LINE = `${WORD} = '${HIDDEN}';\n`;

interface Hiding {
  readonly path: string;
  readonly rules: Partial<RuleTexts>;
  /** A rule that allows a program lets it read outside the workspace. */
  readonly commands?: false;
}

/** What hides the text of a file, and its path in the folder of the suite. */
const HIDING: Record<string, Hiding> = {
  'a rule that denies reading': { path: 'private/a.ts', rules: { deny: ['read:hidden/private/**'] } },
  'a rule that asks about reading': { path: 'private/a.ts', rules: { ask: ['read:hidden/private/**'] } },
  'a rule in another spelling': { path: 'PRIVATE/../private/./a.ts', rules: { deny: ['read:/hidden/private'] } },
  'a kind of file with secrets': { path: '.env', rules: {} },
  'a link to a file with secrets': { path: 'plain.ts', rules: {} },
  'the end of the workspace': { path: 'out.ts', rules: {}, commands: false },
  'a rule that can’t be read': { path: 'private/a.ts', rules: { deny: ['raed:hidden/private/**'] } },
};

/** Rules that hold back a change or a command instead of the text. */
const RESTRICTING: Record<string, Partial<RuleTexts>> = {
  'denied edits and deletions': { deny: ['edit:hidden/**', 'delete:hidden/**', 'command:cat', 'command:touch'] },
  'edits and deletions that are asked': { ask: ['edit:hidden/**', 'delete:hidden/**', 'command:cat', 'command:touch'] },
};

/** A rule about reading does not keep a file from being deleted, so deletions are asked here. */
const READING = ['read:**', 'edit:**'];
const COMMANDS = ['command:cat', 'command:touch'];
const KINDS = [...READING, 'delete:**', ...COMMANDS];

describe('text that rules and kinds of files hide', () => {
  let root: string;
  let outside: string;
  let registered: vscode.Disposable;
  const proposals = new Proposals();
  const terminals = new CommandTerminals();

  before(async () => {
    root = join(workspaceFolder().fsPath, 'hidden');
    outside = mkdtempSync(join(tmpdir(), 'svc-outside-'));
    mkdirSync(join(root, 'private'), { recursive: true });
    writeFileSync(join(outside, 'out.ts'), LINE);
    for (const path of ['private/a.ts', '.env', 'prod.env']) writeFileSync(join(root, path), LINE);
    symlinkSync('prod.env', join(root, 'plain.ts'));
    symlinkSync(join(outside, 'out.ts'), join(root, 'out.ts'));
    writeFileSync(join(root, 'open.ts'), `use(${WORD});\n`);
    registered = registerLanguage();
  });
  after(() => {
    registered.dispose();
    proposals.dispose();
    terminals.dispose();
    for (const folder of [root, outside]) rmSync(folder, { recursive: true, force: true });
  });

  const files = () =>
    ['open.ts', 'private/a.ts', '.env', 'plain.ts', 'out.ts'].map((path) => vscode.Uri.file(join(root, path)));

  /** Finds the word in all files, and reports their lines as problems. */
  function registerLanguage(): vscode.Disposable {
    const pattern = new vscode.RelativePattern(workspaceFolder(), 'hidden/**');
    const places = () => files().map((uri) => new vscode.Location(uri, new vscode.Range(0, 0, 0, WORD.length)));
    const problems = vscode.languages.createDiagnosticCollection('hidden');
    for (const uri of files()) {
      const message = uri.path.endsWith('open.ts') ? 'open' : `in ${HIDDEN}`;
      problems.set(uri, [new vscode.Diagnostic(new vscode.Range(0, 0, 0, 1), message)]);
    }
    const symbols = () => places().map((place) => new vscode.SymbolInformation(HIDDEN, 12, '', place));
    return vscode.Disposable.from(
      problems,
      vscode.languages.registerReferenceProvider({ pattern }, { provideReferences: places }),
      vscode.languages.registerDefinitionProvider({ pattern }, { provideDefinition: places }),
      vscode.languages.registerWorkspaceSymbolProvider({ provideWorkspaceSymbols: symbols }),
      vscode.languages.registerRenameProvider(
        { pattern },
        {
          provideRenameEdits: (_document, _position, name) => {
            const edit = new vscode.WorkspaceEdit();
            for (const { uri, range } of places()) edit.replace(uri, range, name);
            return edit;
          },
        },
      ),
    );
  }

  /** All of ours, so a new tool is here too, and one of an extension. */
  const tools = (): readonly ChatTool[] => [
    ...harmlessTools(),
    ...changingTools({ proposals, terminals, fetched: () => undefined }),
    editorTool(
      {
        name: 'foreign_read',
        description: 'Reads.',
        inputSchema: { properties: { where: { type: 'string' } } },
        tags: [],
      },
      'Ext',
      'a.b',
    ),
  ];

  /** Everything is allowed that rules can allow, so that only what is tested holds a call back. */
  const rulesWith = (all: readonly ChatTool[], more: Partial<RuleTexts>, kinds = KINDS): RuleTexts => ({
    ...NO_RULES,
    allow: [...kinds, ...all.map((tool) => `tool:${tool.identity ?? toolKey(tool)}`)],
    ...more,
  });

  /** Arguments for a path: with all members of the schema, and with the required ones. */
  function inputsFor({ parameters, name }: ChatTool, path: string): readonly Record<string, unknown>[] {
    const { properties = {}, required = [] } = parameters as {
      properties?: Record<string, Record<string, unknown>>;
      required?: readonly string[];
    };
    const all = Object.entries(properties).map(([key, schema]) => [key, valueFor(key, schema, path)] as const);
    const ofFile = ['path', 'symbol', 'query'];
    const whole = Object.fromEntries(all.filter(([key]) => key !== 'background' && key !== 'cwd'));
    const least = Object.fromEntries(all.filter(([key]) => required.includes(key) || ofFile.includes(key)));
    const bare = Object.fromEntries(all.filter(([key]) => required.includes(key)));
    return name === 'run_in_terminal' ? [whole] : [whole, least, bare];
  }

  function valueFor(key: string, schema: Record<string, unknown>, path: string): unknown {
    if (key === 'symbol' || key === 'query' || key === 'old_text') return WORD;
    if (key === 'new_name' || key === 'new_text' || key === 'content') return 'changedWord';
    if (key === 'command') return `cat ${path}`;
    if (key === 'pattern') return 'hidden/**';
    if (schema.type === 'number' || schema.type === 'integer') return 1;
    if (schema.type === 'boolean') return false;
    if (Array.isArray(schema.enum)) return schema.enum[0];
    if (schema.type === 'array') return [valueFor('', (schema.items as Record<string, unknown>) ?? {}, path)];
    if (schema.type === 'object') {
      const members = Object.entries((schema.properties as Record<string, Record<string, unknown>>) ?? {});
      return Object.fromEntries(members.map(([name, member]) => [name, valueFor(name, member, path)]));
    }
    return path;
  }

  /** Runs a call and denies each question. @returns what the model is told. */
  async function answerOf(tool: ChatTool, input: unknown, rules: RuleTexts): Promise<string> {
    const told: string[] = [];
    const runner: ToolRunner = new ToolRunner({
      ...{ now: () => 0, tools: () => [tool] },
      rules: { rules: () => rules, allow: () => undefined },
      patch: (patch) => {
        if (patch.type !== 'tool') return;
        const { state } = patch;
        if (state.type === 'waiting') queueMicrotask(() => runner.decide('c', { type: 'deny', reason: '' }));
        else told.push(JSON.stringify(state));
      },
    });
    const call = { part: 0, id: 'c', name: tool.name, text: JSON.stringify(input) };
    await runner.run('m', [call], new AbortController().signal);
    return told.join('\n');
  }

  const contents = () =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((path) => {
        try {
          return [path, readFileSync(join(root, path), 'utf8')];
        } catch {
          return [path];
        }
      });

  it('hidden text: without a rule, the tools that can show it do', async () => {
    const all = tools();
    const showing = new Set<string>();
    for (const tool of all.filter(({ name }) => !/^(?:create|delete|rename|edit|move)/.test(name))) {
      for (const input of inputsFor(tool, 'hidden/private/a.ts'))
        if ((await answerOf(tool, input, rulesWith(all, {}))).includes(HIDDEN)) showing.add(tool.name);
    }
    const expected = [
      'read_file',
      'search_text',
      'find_symbols',
      'find_references',
      'go_to_definition',
      'get_problems',
      'run_in_terminal',
    ];
    assert.deepEqual(
      expected.filter((name) => !showing.has(name)),
      [],
    );
  });

  for (const [what, { path, rules, commands }] of Object.entries(HIDING)) {
    it(`hidden text: no answer of a tool shows what is hidden by ${what}`, async () => {
      const all = tools();
      const before = contents();
      const given = rulesWith(all, rules, commands === false ? READING : [...READING, ...COMMANDS]);
      for (const tool of all) {
        for (const spelling of [`hidden/${path}`, join(root, path), `./hidden//${path}`]) {
          for (const input of inputsFor(tool, spelling)) {
            const told = await answerOf(tool, input, given);
            // Files that are not hidden by this rule may be shown by tools that search.
            const shown = told.split(/\\n|\n/).filter((line) => line.includes(HIDDEN) && isAbout(line, path));
            assert.deepEqual(shown, [], `${tool.name} ${JSON.stringify(input)}`);
          }
        }
      }
      assert.deepEqual(contents(), before);
    });
  }

  /** A line of a tool that searches names its file. One without a name is about the file of the call. */
  function isAbout(line: string, path: string): boolean {
    const named = /hidden\/(?:private\/a|open|out|plain)\.ts|hidden\/(?:prod)?\.env/.exec(line)?.[0];
    return named === undefined || named === `hidden/${path.replace('PRIVATE/../private/./', 'private/')}`;
  }

  for (const [what, rules] of Object.entries(RESTRICTING)) {
    it(`hidden text: no tool changes a file with ${what}`, async () => {
      const all = tools();
      const before = contents();
      for (const tool of all)
        for (const path of ['hidden/private/a.ts', 'hidden/new.ts'])
          for (const input of inputsFor(tool, path)) await answerOf(tool, input, rulesWith(all, rules));
      assert.deepEqual(contents(), before);
    });
  }
});
