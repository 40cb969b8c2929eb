import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ProjectDeclarations } from '../../../src/completion/context/project-declarations.ts';
import { EditorProjectReader } from '../../../src/extension/completion/project-reader.ts';
import { documentView, toPosition } from '../../../src/extension/document-view.ts';
import { waitUntil } from '../wait-until.ts';
import { edit } from './completion-provider.ts';
import { writeFile } from './until.ts';

/** The paths of imports are known to the language only. */
const CONFIG = { compilerOptions: { strict: true, paths: { '@parts/*': ['./parts/*'] } } };
const PARTS = {
  'users.ts':
    "import type { Address } from './address';\nexport interface Profile {\n  email: string;\n  address: Address;\n}\n" +
    'export interface User {\n  id: number;\n  profile: Profile;\n}\n' +
    'export function saveUser(user: User, tries: number): Saved {\n  return secretBody;\n}\n' +
    'export interface Saved {\n  savedAt: Date;\n}\nexport type Handler = (request: Ask, reply: Reply) => void;\n' +
    'export interface Ask {\n  asked: string;\n}\nexport interface Reply {\n  answer: string;\n}\n',
  'address.ts': 'export interface Address {\n  street: string;\n}\n',
};
const HEAD = "import { type Handler, type Saved, saveUser, type User } from '@parts/users';\n";
const PROFILE = 'export interface Profile\n  email: string\n  address: Address';
const USER = 'export interface User\n  id: number\n  profile: Profile';
const SIGNATURE = 'saveUser(user: User, tries: number): Saved';

/** [what is expected at the caret, code with a caret, what the context has] */
const CASES: readonly (readonly [name: string, code: string, wanted: readonly string[]])[] = [
  [
    'the result of a function',
    'export function save(): Saved {\n  return {\n    |\n  };\n}\n',
    ['savedAt: Date', 'properties: savedAt'],
  ],
  ['a typed variable', 'export const user: User = {\n  |\n};\n', [USER, 'properties: id, profile']],
  [
    'a property of an argument',
    'saveUser({\n  id: 1,\n  profile: {\n    |\n  },\n}, 2);\n',
    [SIGNATURE, USER, PROFILE, 'properties: address, email'],
  ],
  [
    'a property of a property',
    'saveUser({\n  id: 1,\n  profile: {\n    address: {\n      |\n    },\n  },\n}, 2);\n',
    [PROFILE, 'export interface Address\n  street: string', 'properties: street'],
  ],
  ['an argument', 'saveUser(|);\n', [SIGNATURE, USER]],
  ['an element', 'export const users: User[] = [\n  {\n    |\n  },\n];\n', [USER, 'properties: id, profile']],
  [
    'a function that is returned',
    'export function make(): Handler {\n  return (request, reply) => {\n    |\n  };\n}\n',
    ['asked: string', 'answer: string'],
  ],
];

const isPart = ({ uri }: { readonly uri: string }) => uri.endsWith('/parts/users.ts');

describe('context with the language server of TypeScript', () => {
  const folder = 'expected-types';
  let reader: EditorProjectReader;
  /** Finds the function in the head of a file. */
  let findImported: () => ReturnType<EditorProjectReader['declarations']>;

  before(async () => {
    await writeFile(`${folder}/tsconfig.json`, JSON.stringify(CONFIG));
    for (const [name, text] of Object.entries(PARTS)) await writeFile(`${folder}/parts/${name}`, text);
    reader = new EditorProjectReader(() => false);
    const { document } = await edit('', { uri: await writeFile(`${folder}/early.ts`, HEAD) });
    const at = document.positionAt(HEAD.indexOf('saveUser'));
    findImported = () => reader.declarations(document.uri.toString(), toPosition(at), 'name');
    // The language loads the project, which takes long on a busy machine.
    while (!(await findImported())?.some(isPart));
  });
  after(async () => {
    reader.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('context: a language that hangs keeps no other one back', async () => {
    const hanging = vscode.languages.registerDefinitionProvider('plaintext', {
      provideDefinition: () => new Promise(() => undefined),
    });
    try {
      const uri = await writeFile(`${folder}/hangs.txt`, 'word');
      await edit('', { uri });
      const ask = () => reader.declarations(uri.toString(), { line: 0, character: 0 }, 'name');
      for (let number = 0; number < 6; number++) void ask();
      assert.equal(await ask(), undefined);
      assert.ok((await findImported())?.some(isPart));
    } finally {
      hanging.dispose();
    }
  });

  it('context: a file is looked at again after 5 seconds, by all that need it', async () => {
    let now = 0;
    class StoppedReader extends EditorProjectReader {
      override now = () => now;
    }
    const stopped = new StoppedReader(() => false);
    try {
      const uri = await writeFile(`${folder}/read.txt`, 'one');
      const read = async () => (await stopped.read(uri.toString(), 'plaintext'))?.lineAt(0);
      assert.deepEqual(await Promise.all([read(), read()]), ['one', 'one']);
      await writeFile(`${folder}/read.txt`, 'two');
      now += 4_999;
      assert.equal(await read(), 'one');
      now += 1;
      assert.equal(await read(), 'two');
      const missing = uri.toString().replace('read', 'later');
      assert.equal(await stopped.read(missing, 'plaintext'), undefined);
      await writeFile(`${folder}/later.txt`, 'three');
      now += 5_000;
      assert.equal((await stopped.read(missing, 'plaintext'))?.lineAt(0), 'three');
    } finally {
      stopped.dispose();
    }
  });

  for (const [number, [name, code, wanted]] of CASES.entries()) {
    it(`context: has what is expected at the caret: ${name}`, async () => {
      const text = HEAD + code;
      const uri = await writeFile(`${folder}/case${number}.ts`, text.replace('|', ''));
      const { document } = await edit('', { uri });
      const place = { document: documentView(document), position: toPosition(document.positionAt(text.indexOf('|'))) };
      const declarations = new ProjectDeclarations(reader);
      const missing = async () => {
        // The language has not loaded the project at first.
        declarations.clear();
        const found = await declarations.find(place, new AbortController().signal, () => undefined);
        const all = found.map(({ text }) => text).join('\n\n');
        assert.doesNotMatch(all, /secretBody/);
        return wanted.filter((each) => !all.includes(each));
      };
      await waitUntil(`context of ${name}`, missing, (left) => left.length === 0);
    });
  }
});
