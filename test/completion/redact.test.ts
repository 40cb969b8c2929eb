import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import type { Snippet } from '../../src/completion/prompt/context.ts';
import { Exclusions } from '../../src/completion/prompt/exclusion.ts';
import { insideSecret, redact, SecretRestorer } from '../../src/completion/prompt/redact.ts';
import { SECRET_KINDS } from '../hostile/secret-kinds.ts';
import { assertLinear } from '../linear-time.ts';
import { EditorHarness } from './editor-harness.ts';

const KEY = `sk-${'aB3dE5fG7hJ9kL1mN3pQ'}`;

describe('secrets in completion requests', () => {
  for (const [name, text, secret] of SECRET_KINDS) {
    it(`redact: masks at the same length: ${name}`, () => {
      const masked = redact(text).text;
      assert.ok(!masked.includes(secret), masked);
      assert.equal(masked.length, text.length);
      assert.equal(masked.split('\n').length, text.split('\n').length);
    });
  }

  const plain = [
    'const completionSettingsWithDefaults = getCompletionSettingsWithDefaults();',
    "import { something } from '../../../completion/suggestion-cache.ts';",
    '// ----------------------------------------------------------------------',
    'const password = process.env.DATABASE_PASSWORD;',
    "const token = 'your-token-here';",
    'function token(text: string): string { return text; }',
    'const password = await readPassword();',
    'let auth = options.auth;',
    'pass: boolean',
    'token: Token;',
    'const token = this.nextToken',
    'this.secret = secret;',
    'password: string | undefined,',
    "import { token } from './token-reader.ts';",
    'export interface Auth { readonly token: string; readonly pass?: string }',
    'API_KEY=$OTHER_KEY',
    'api_key: ${API_KEY}',
    'password: {{ db_password }}',
    "apiKey: '{env:MISTRAL_API_KEY}'",
    'secretName: my-app-secret',
    "t('login.password.label')",
    'integrity="sha384-nH0MfJ44wi1dd7w6jinlyBgljjS8EJAh2JBoRad8a3VDw2K69vfaaqm4WnR+gXtA"',
    "max_tokens: 'length',",
    'https://example.com/a/b?page=2&sort=name',
  ];
  for (const text of plain) it(`redact: does not mask ${text}`, () => assert.equal(redact(text).text, text));

  it('redact: restores secrets in an answer that is split at any position', () => {
    const { text, secrets } = redact(`a = '${KEY}'; password = "correct-horse9"`);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (sizes) => {
        const restoring = new SecretRestorer(secrets);
        let out = '';
        for (let at = 0, i = 0; at < text.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          out += restoring.push(text.slice(at, at + size));
          at += size;
        }
        assert.equal(out + restoring.end(), `a = '${KEY}'; password = "correct-horse9"`);
      }),
    );
  });

  it('redact: no request is sent while a secret is typed', async () => {
    assert.ok(insideSecret(KEY, 12));
    assert.ok(!insideSecret(`${KEY}'`, KEY.length));
    const editor = new EditorHarness(`const key = '${KEY.slice(0, 20)}|${KEY.slice(20)}';`);
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(2_000);
    assert.equal(editor.requests.length, 0);
  });

  it('redact: a secret is not in the request but in the suggestion', async () => {
    const editor = new EditorHarness(`const key = '${KEY}';\nconst copy = |`);
    editor.answers = (fimRequest) => [/'([^']+)'/.exec(fimRequest.prefix)?.[0] ?? ''];
    editor.requestSuggestion();
    await editor.clock.pass(2_000);
    assert.ok(!JSON.stringify(editor.requests).includes(KEY));
    assert.ok(!JSON.stringify(editor.suggester.lastRequest).includes(KEY));
    assert.equal(editor.ghost, `'${KEY}'`);
    assert.match(editor.log[0] ?? '', /masked 1/);
  });
});

/** Private keys, different for each run. The lines have 64 characters. */
function createKeys(count: number): readonly (readonly string[])[] {
  return Array.from({ length: count }, () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    return privateKey.trim().split('\n');
  });
}

describe('private keys in completion requests', () => {
  const keys = createKeys(6);
  const fullLines = (key: readonly string[]) => key.filter((line) => line.length === 64);

  /** The text of all requests for a document. */
  async function sent(text: string, context: readonly Snippet[] = []): Promise<string> {
    const editor = new EditorHarness(text, { context: async () => context });
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(2_000);
    return editor.requests.map(({ fimRequest }) => fimRequest.prefix + fimRequest.suffix).join('\n');
  }

  const forms: readonly (readonly [string, (lines: readonly string[]) => string])[] = [
    ['lines', (lines) => lines.join('\n')],
    ['indented lines', (lines) => lines.map((line) => `    ${line}`).join('\n')],
    ['strings that are joined', (lines) => lines.map((line) => `  '${line}\\n' +`).join('\n')],
    ['a string with escaped line ends', (lines) => `"${lines.join('\\n')}\\n"`],
    ['a string with escaped CRLF', (lines) => `"${lines.join('\\r\\n')}\\r\\n"`],
    ['a comment', (lines) => lines.map((line) => ` * ${line}`).join('\n')],
  ];
  const parts: readonly (readonly [string, (key: readonly string[]) => readonly string[]])[] = [
    ['the lines after its start', (key) => key.slice(1)],
    ['its last two lines', (key) => key.slice(-3)],
    ['two lines in it', (key) => key.slice(3, 5)],
    ['the lines in it', (key) => key.slice(2, -3)],
  ];
  for (const [form, write] of forms) {
    for (const [part, select] of parts) {
      it(`redact: masks ${part} of a private key, as ${form}`, () => {
        for (const key of keys) {
          const lines = select(key);
          const masked = redact(write(lines)).text;
          for (const line of lines) if (/^[A-Za-z]/.test(line)) assert.ok(!masked.includes(line), masked);
        }
      });
    }
  }

  it('redact: masks a private key whose start is before the window', async () => {
    for (const key of keys) {
      const header = Array.from(
        { length: 20 },
        (_, line) => `// line ${line} of the header of this file, which is long`,
      );
      const code = `export function check(value: string): boolean { return value.length > 0; }\n`.repeat(75);
      const text = await sent(`${header.join('\n')}\nexport const KEY = \`${key.join('\n')}\`;\n${code}const x = |`);
      assert.ok(text.endsWith('const x = '));
      assert.deepEqual(
        fullLines(key).filter((line) => text.includes(line)),
        [],
      );
    }
  });

  it('redact: masks a part of a private key in a piece of an open tab', async () => {
    for (const key of keys) {
      const text = `${key.slice(2).join('\n')}\n\`;\nexport function verifyToken() {}`;
      const sentText = await sent('const ok = |', [{ kind: 'open-tab', path: 'src/key.ts', line: 3, text }]);
      assert.ok(sentText.includes('verifyToken'));
      assert.deepEqual(
        fullLines(key).filter((line) => sentText.includes(line)),
        [],
      );
    }
  });

  it('redact: no request is sent on an empty line in a private key', async () => {
    for (const key of keys) {
      for (const row of [1, 2, 14, key.length - 1]) {
        const lines = key.toSpliced(row, 0, '|');
        assert.equal(await sent(`const KEY = \`${lines.join('\n')}\`;\nuse(KEY);\n`), '');
      }
      const lines = key.slice(1, -1).toSpliced(10, 0, '|');
      assert.equal(await sent(lines.join('\n')), '');
    }
  });

  it('redact: a request is sent next to code that names the markers of private keys', async () => {
    const code = "const END = '-----END PRIVATE KEY-----';\n\nfunction f() {\n  run();\n}\n";
    const list = `run();\n\nconst ENDS = [\n  '-----END PRIVATE KEY-----',\n  '-----END RSA PRIVATE KEY-----',\n];\n`;
    for (const text of [code, list]) assert.equal(redact(text).text, text);
    assert.ok((await sent(`${code}${list}const x = |`)).includes(code));
  });

  for (const [what, piece] of [
    ['lines of Base64', `${'aB3+'.repeat(16)}\n`],
    ['ends of private keys', '-----END PRIVATE KEY-----\n'],
    ['lines of a word', 'word\n'],
  ] as const) {
    it(`redact: takes linear time for many ${what}`, () =>
      assertLinear(100_000, (size) => `${piece.repeat(size / piece.length)}-----END PRIVATE KEY-----`, redact));
  }

  const notKeys = [
    `${'/'.repeat(70)}\n${'/'.repeat(70)}\n`,
    `${'ab12'.repeat(16)}\n${'cd34'.repeat(16)}\n`.replaceAll(/[0-9]/g, 'x'),
    'com/example/orders/service/internal/CustomerOrderServiceFactory1\n'.repeat(3),
    `${'someVeryLongNameOfAFunction'.repeat(3).slice(0, 70)}\n`.repeat(2),
  ];
  for (const text of notKeys) {
    it(`redact: does not mask long lines such as ${text.slice(0, 40)}`, () => assert.equal(redact(text).text, text));
  }
});

describe('files that are never sent', () => {
  const exclusions = new Exclusions(
    [
      {
        uri: 'file:///c%3A/work',
        ignoreFiles: [
          { directory: '', content: 'dist/\n*.log\n!keep.log' },
          { directory: 'pkg', content: 'local.ts\n!deep.log' },
        ],
      },
    ],
    ['**/generated/**'],
  );
  const cases: readonly (readonly [string, boolean])[] = [
    ['file:///c%3A/work/src/a.ts', false],
    ['file:///C:/work/src/a.ts', false],
    ['file:///c%3A/work/.env', true],
    ['file:///c%3A/work/app/.env.production', true],
    ['file:///c%3A/work/.env.example', false],
    ['file:///c%3A/work/certs/site.PEM', true],
    ['file:///c%3A/work/id_ed25519', true],
    ['file:///c%3A/work/svc.jsonc', true],
    ['file:///c%3A/work/dist/a.js', true],
    ['file:///c%3A/work/a.log', true],
    ['file:///c%3A/work/keep.log', false],
    ['file:///c%3A/work/pkg/local.ts', true],
    ['file:///c%3A/work/pkg/deep.log', false],
    ['file:///c%3A/work/src/generated/x.ts', true],
    ['file:///c%3A/workshop/a.ts', true],
    ['file:///etc/passwd', true],
    ['file:///c%3A/work/../etc/passwd', true],
    ['vscode-notebook-cell:/c%3A/work/n.ipynb#W0', false],
    ['untitled:Untitled-1', false],
    ['untitled:/w/.env', true],
    ['untitled:.env', true],
    ['untitled:/w/%2Eenv', true],
    ['untitled:/w/id_rsa?x', true],
    ['untitled:/w/.git/config', true],
    ['untitled:/w/server.pem', true],
    ['untitled:/w/a.ts', false],
    ['src/a.ts', false],
    ['dist/a.js', true],
    ['.env', true],
  ];
  for (const [path, refused] of cases) {
    it(`excluded files: ${refused ? 'excludes' : 'includes'} ${path}`, () =>
      assert.equal(exclusions.reason(path) !== undefined, refused));
  }

  it('excluded files: an opened folder is included even if the repository around it ignores it', () => {
    const folder = 'file:///repo/.cache/sample';
    const above = { directory: '', down: '.cache/sample', content: '.cache/\n*.local\n' };
    const inside = new Exclusions([{ uri: folder, ignoreFiles: [above] }], []);
    assert.equal(inside.reason(`${folder}/src/a.ts`), undefined);
    assert.notEqual(inside.reason(`${folder}/src/a.local`), undefined);
  });

  it('excluded files: uses the ignore files of each workspace folder, local or remote, and of the repository above', () => {
    const remote = 'vscode-remote://ssh-remote%2Bhost';
    const several = new Exclusions(
      [
        { uri: `${remote}/repo/app`, ignoreFiles: [{ directory: '', down: 'app', content: '/app/out/\n*.local' }] },
        { uri: `${remote}/repo/app/inner`, ignoreFiles: [] },
        { uri: 'file:///other', ignoreFiles: [{ directory: '', content: 'src/' }] },
      ],
      [],
    );
    const refused = (uri: string): boolean => several.reason(uri) !== undefined;
    assert.deepEqual(
      [
        refused(`${remote}/repo/app/src/a.ts`),
        refused(`${remote}/repo/app/out/a.js`),
        refused(`${remote}/repo/app/inner/b.local`),
        refused(`${remote}/repo/app/inner/b.ts`),
        refused(`${remote}/repo/else/a.ts`),
        refused('file:///other/src/a.ts'),
        refused('file:///other/lib/a.ts'),
      ],
      [false, true, true, false, true, true, false],
    );
  });

  it('excluded files: are sent neither as the document nor as context', async () => {
    const secret = new EditorHarness('a = |', { excluded: (path) => exclusions.reason(path) });
    secret.file.uri = 'file:///c%3A/work/.env';
    secret.requestSuggestion({ trigger: 'invoke' });
    await secret.clock.pass(2_000);
    assert.equal(secret.requests.length, 0);
    assert.equal(secret.suggester.state.kind, 'silent');

    const snippet = { kind: 'open-tab' as const, line: 0, text: 'API_KEY=1' };
    const editor = new EditorHarness('a = |', {
      excluded: (path) => exclusions.reason(path),
      context: async () => [
        { ...snippet, path: '.env' },
        { ...snippet, path: 'src/b.ts', text: 'export const b = 1;' },
      ],
    });
    editor.file.uri = 'file:///c%3A/work/a.ts';
    editor.requestSuggestion();
    await editor.clock.pass(2_000);
    const prefix = editor.requests[0]?.fimRequest.prefix ?? '';
    assert.equal(prefix, '// Path: src/b.ts\nexport const b = 1;\n\n// Path: a.ts\na = ');
  });
});
