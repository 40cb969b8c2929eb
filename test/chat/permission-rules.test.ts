import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { judgeCommand, offeredPrefixes } from '../../src/chat/permissions/command-verdict.ts';
import { judge, NO_RULES, offeredRules, type Subject } from '../../src/chat/permissions/permission-rules.ts';
import { splitCommandLine } from '../../src/chat/permissions/shell-syntax.ts';
import { assertLinear } from '../linear-time.ts';

const verdict = (
  command: string,
  { allow = [], ask = [], deny = [] }: Partial<Record<'allow' | 'ask' | 'deny', readonly string[]>> = {},
) => judgeCommand({ command, posix: true, inside: true }, { allow, ask, deny }).effect;

describe('command line of a shell', () => {
  const CASES: readonly [line: string, commands: readonly string[]][] = [
    ['git status', ['git status']],
    ['a && b || c; d | e & f\ng', ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
    ['echo "$(rm x)" `rm y`', ['rm x', 'rm y', 'echo ? ?']],
    ['(cd a; rm b)', ['cd a', 'rm b']],
    ['diff <(rm a) >(rm b)', ['rm a', 'rm b', 'diff ? ?']],
    ['echo \'a; b\' "c && d" e\\;f', ['echo a; b c && d e;f']],
    ['g""it s\'tat\'us', ['git status']],
    ['echo a # ; rm b', ['echo a']],
    ['echo a#b', ['echo a#b']],
    ['echo "$(echo "a")"', ['echo a', 'echo ?']],
    ['echo $HOME ${HOME} *.ts ~/x', ['echo ? ? ? ?']],
    ['a 2>&1 | b >/dev/null 2>&1', ['a', 'b']],
    ['git \\\n status', ['git status']],
  ];
  for (const [line, commands] of CASES) {
    it(`shell: splits ${JSON.stringify(line)}`, () => {
      const found = splitCommandLine(line)?.map(({ words }) =>
        words.map(({ text, literal }) => (literal ? text : '?')).join(' '),
      );
      assert.deepEqual(found, commands);
    });
  }

  const UNKNOWN = [
    ...['cat <<EOF\nrm x\nEOF', 'f() { rm x; }', 'if a; then b; fi', 'for i in a; do b; done', 'echo $((1+1))'],
    ...[
      'echo "a',
      "echo 'a",
      'echo $(a',
      '(a',
      'a)',
      'echo ${a:-$(rm x)}',
      "echo $'a'",
      'echo `a \\`b\\``',
      '{ rm x; }',
    ],
    ...['! rm x', 'time rm x', 'cat <> x', '((a))', 'a > $(rm x)'],
  ];
  for (const line of UNKNOWN) {
    it(`shell: does not claim to understand ${JSON.stringify(line)}`, () => {
      assert.equal(splitCommandLine(line), undefined);
    });
  }

  it('shell: hostile lines take linear time', async () => {
    for (const piece of ['$(', '`', '"', '(', "'", '\\', 'a ', '>', '{,', '<(', '"$(a)"'])
      await assertLinear(5000, (size) => piece.repeat(size), splitCommandLine);
  });
});

describe('rules for commands', () => {
  const ALLOWED = [
    ...['git status', 'git status --short', 'ls -la src', 'cat a.ts | head -5 | wc -l', 'pwd && git log --oneline -5'],
    ...[
      'cat a.ts 2>/dev/null',
      'find . -name "x.ts"',
      'git diff --stat',
      'node --version',
      'cat a | grep -n x',
      'echo a',
    ],
    ...['git status -sb', 'git status --porcelain=v1 -uno -- src', 'git diff --name-only HEAD~1 -- src', 'git remote'],
    ...['git diff --cached --stat', 'git ls-files -o --exclude-standard', 'git rev-parse --abbrev-ref HEAD', 'git tag'],
    ...['git branch -vv', 'ls -1 --color=never', 'head -n 5 a', 'head -n5 a', 'tail -n +3 a', 'tail -20 a', 'wc -l a'],
    ...['cat -n a', 'tree -L 2 -I dist', 'du -sh .', 'cat a | cut -d: -f1 | tr -d x', 'cat a | grep -iE -A3 "x|y"'],
    ...[
      'printf "%s 100%%\\n" a',
      'date +%H:%M',
      'uname -a',
      'which ls',
      'cd src && pwd',
      'python3 --version',
      'npm -v',
    ],
    ...['find . -type f -not -name "*.js" -print', 'stat -c %s a', 'go version', 'ls -la | grep -v "{"'],
  ];
  for (const command of ALLOWED) {
    it(`command: runs without a question, because it only reads: ${command}`, () => {
      assert.equal(verdict(command), 'allow');
    });
  }

  const ASKED = [
    ...['git status; rm -rf x', 'git status && rm x', 'git status || rm x', 'git status | sh', 'git status & rm x'],
    ...['git status\nrm x', 'git status $(rm x)', 'git status `rm x`', 'git status "$(rm x)"', 'git status <(rm x)'],
    ...[
      'git status > package.json',
      'ls >> a',
      'ls 2> a',
      'ls &> a',
      'PATH=. git status',
      'git -c core.pager=x status',
    ],
    ...[
      'git diff',
      'git log -p',
      'git log --output=x',
      'git diff --stat --output=x',
      'git branch new',
      'cat *',
      'cat $X',
    ],
    ...[
      'grep -r TOKEN .',
      'find . -delete',
      'find . -exec rm {} +',
      '/tmp/git status',
      './ls',
      '\\rm x',
      'r""m x',
      'ls; #\nrm x',
    ],
    ...[
      'tree -o a',
      'date -s 1',
      'printf -v x a',
      'node --version x',
      '',
      '# nothing',
      'git show HEAD:.env',
      'grep -f a b',
    ],
    ...[
      'git show --stat -p',
      'git remote add a b',
      'git diff --stat -p',
      'git tag v1',
      'echo a >| b',
      'if ls; then rm x; fi',
    ],
    // They change a variable of the shell, such as PATH; zsh evaluates numbers.
    ...[
      'printf -vPATH %s tools && ls',
      'printf -vBASH_ENV %s x',
      'printf -- -v x',
      'printf %n PATH',
      'printf %5n PATH',
    ],
    ...["printf %d 'a[$(rm x)]'", 'printf "%.*s" x a', 'printf "%(%F)T"'],
    // They write a file.
    ...[
      'tree -ao src/a.ts',
      'tree --output=a',
      'tree -R -L 1',
      'tree -aR',
      'git diff --stat --outpu=a',
      'find . -fprint a',
    ],
    ...['git diff --stat --output a', 'find . -fls a', 'git log --outpu=x', 'yarn version', 'date 01010000'],
    // They start a program that the workspace selects.
    ...['git diff --stat --ext-diff', 'git diff --stat --ext', 'git -c core.fsmonitor=x status', 'git grep -Ox y'],
    ...['git --exec-path=. status', 'yarn --version', 'pnpm --version', 'cargo --version', 'rustc --version'],
    ...['python version', 'java version', 'node version', 'bun version', 'find . -ok rm {} +', 'find . -execdir x +'],
    ...['git grep --open-files-in-pager=x y', 'rg --pre x y', 'GIT_PAGER=x git status', 'cat {a..z}'],
    // They show contents of files that they do not name, or credentials.
    ...[
      'grep --recur KEY',
      'grep --directories=recurse KEY',
      'grep -drecurse KEY',
      'grep -d recurse KEY',
      'grep -nr KEY',
    ],
    ...['grep --dereference KEY', 'grep --fil=a b', 'grep -nfa b', 'grep -eKEY a', 'grep -e KEY a', 'wc --files0=a'],
    ...[
      'wc --files0-from a',
      'du --files0-from=a',
      'du -Xa',
      'tree --fromfile a',
      'tree -l',
      'ls -RL',
      'cat -- -n',
      'cd',
    ],
    ...[
      'git status -v',
      'git status -vv',
      'git status --verbose',
      'git status --verb',
      'git status -sv',
      'git remote -v',
    ],
    ...[
      'git diff --stat --binary',
      'git diff --stat --patc',
      'git diff --stat -U1',
      'git diff --name-only --word-diff',
    ],
    ...[
      'git diff --stat --cc',
      'git diff --stat -pw',
      'git show --stat HEAD',
      'git show --stat abc123',
      'git show --name-only',
    ],
    ...[
      'git show --stat --binary HEAD',
      'git ls-files -Xa',
      'git log -Lx',
      'git log --patch',
      'git log -1p',
      'cd -P .',
      'cd -',
    ],
    ...[
      'git diff --stat --no-index a b',
      'git remote show origin',
      'git rev-parse --parseopt',
      'git tag -v a',
      'cd a b',
    ],
    `cat {${'a'.repeat(300)},b}`,
  ];
  for (const command of ASKED) {
    it(`command: is asked: ${JSON.stringify(command)}`, () => assert.equal(verdict(command), 'none'));
  }

  it('command: an allowed beginning never allows what follows it', () => {
    const rest = fc.constantFrom(
      ...[
        '; rm x',
        '&& rm x',
        '| rm x',
        '$(rm x)',
        '`rm x`',
        '> x',
        '& rm x',
        '\nrm x',
        '"$(rm x)"',
        '|| rm x',
        '>x',
        '<(rm x)',
      ],
    );
    const words = fc.array(fc.constantFrom('a', '-b', '"c d"', "'e'", '$F', '2>&1', '--'), { maxLength: 4 });
    fc.assert(
      fc.property(words, rest, (given, tail) => {
        assert.equal(verdict(`npm test ${given.join(' ')} ${tail}`, { allow: ['npm test'] }), 'none');
      }),
    );
  });

  it('command: rules compare whole words, after quotes', () => {
    const rules = { allow: ['npm test'] };
    assert.equal(verdict('npm test -- a', rules), 'allow');
    assert.equal(verdict('\'npm\' "test"', rules), 'allow');
    for (const command of ['npm tests', 'npm  run test', 'npm', 'npm $X', 'npm t*'])
      assert.equal(verdict(command, rules), 'none');
  });

  it('command: ask overrides allow, and deny overrides both', () => {
    const allow = ['git push', 'rm'];
    assert.equal(verdict('git push', { allow, ask: ['git push'] }), 'ask');
    assert.equal(verdict('git status && git push', { allow, ask: ['git push'] }), 'ask');
    assert.equal(verdict('git push', { allow, ask: ['git push'], deny: ['git push'] }), 'deny');
  });

  const DENIED = [
    ...[
      'rm -rf x',
      '/bin/rm -rf x',
      'ls && rm -rf x',
      'echo $(rm -rf x)',
      'sudo rm -rf x',
      'env A=b rm -rf x',
      'r""m -rf x',
    ],
    ...[
      'bash -c "rm -rf x"',
      'xargs rm -rf',
      'if a; then rm -rf x; fi',
      'eval "rm -rf x"',
      'find . -exec rm -rf {} +',
      '\\rm -rf x',
    ],
  ];
  for (const command of DENIED) {
    it(`command: is denied: ${command}`, () => assert.equal(verdict(command, { deny: ['rm -rf'] }), 'deny'));
  }

  it('command: words inside a text of another command are not denied', () => {
    assert.equal(verdict('git commit -m "rm -rf is gone"', { deny: ['rm -rf'] }), 'none');
  });

  const OFFERED: readonly [command: string, prefixes: readonly string[] | undefined][] = [
    ['npm run build -- --watch', ['npm run build']],
    ['npm test && git status && npx tsc -p .', ['npm test', 'npx tsc']],
    ['make', ['make']],
    ['pytest tests/a.py', ['pytest']],
    ['git -C x push', undefined],
    ['rm -rf build', undefined],
    ['bash x.sh', undefined],
    ['npm test > out.txt', undefined],
    ['if a; then b; fi', undefined],
    ['$X', undefined],
    ['printf -vPATH %s tools', undefined],
    ['export PATH', undefined],
    ['hash -p tools/ls ls', undefined],
    ['sudo', undefined],
  ];
  for (const [command, prefixes] of OFFERED) {
    it(`command: the offered rules of ${JSON.stringify(command)} are ${String(prefixes)}`, () => {
      const rules = { allow: [], ask: [], deny: [] };
      assert.deepEqual(offeredPrefixes({ command, posix: true, inside: true }, rules), prefixes);
      if (prefixes) assert.equal(verdict(command, { allow: prefixes }), 'allow');
    });
  }

  it('command: files outside the workspace are not read without a question', () => {
    const outside = { command: 'cat /etc/passwd', posix: true, inside: false };
    assert.equal(judgeCommand(outside, { allow: [], ask: [], deny: [] }).effect, 'none');
  });

  it('command: in PowerShell and cmd only plain words are understood', () => {
    const judged = (command: string) =>
      judgeCommand({ command, posix: false, inside: true }, { allow: ['npm test'], ask: [], deny: [] }).effect;
    assert.equal(judged('npm test'), 'allow');
    for (const command of ['npm test ^& del x', 'npm test `n del', 'npm test %X%', "npm test 'a'", 'npm test\ndel x'])
      assert.equal(judged(command), 'none', command);
  });
});

describe('rules for files, addresses and tools', () => {
  const edit = (path: string): Subject => ({ kind: 'edit', path });

  it('rules: patterns decide about files, all files of a call must be allowed', () => {
    const rules = { ...NO_RULES, allow: ['edit:src/**', 'edit:*.md'], deny: ['edit:src/generated'] };
    assert.equal(judge([edit('src/a/b.ts'), edit('docs/x.md')], rules).effect, 'allow');
    assert.equal(judge([edit('src/a.ts'), edit('b.ts')], rules).effect, 'none');
    assert.deepEqual(judge([edit('src/a.ts'), edit('src/generated/c.ts')], rules), {
      effect: 'deny',
      rule: 'edit:src/generated',
    });
    assert.equal(judge([{ kind: 'delete', path: 'src/a.ts' }], rules).effect, 'none');
  });

  it('rules: an origin and a tool are compared as a whole', () => {
    const rules = { ...NO_RULES, allow: ['fetch:https://a.example', 'tool:GitHub/read'] };
    assert.equal(judge([{ kind: 'fetch', origin: 'https://a.example' }], rules).effect, 'allow');
    assert.equal(judge([{ kind: 'fetch', origin: 'https://a.example.org' }], rules).effect, 'none');
    assert.equal(judge([{ kind: 'tool', key: 'Other/read' }], rules).effect, 'none');
  });

  it('rules: a rule is offered only where it will have an effect', () => {
    assert.deepEqual(offeredRules([edit('a'), edit('b')], NO_RULES), ['edit:**']);
    assert.equal(offeredRules([edit('a')], { ...NO_RULES, ask: ['edit:a'] }), undefined);
    const command: Subject = { kind: 'command', command: 'npm test', posix: true, inside: true };
    assert.deepEqual(offeredRules([command], NO_RULES), ['command:npm test']);
  });

  it('rules: the files of a command can be denied or asked about, but need not be allowed', () => {
    const cat = (path: string): Subject => ({
      ...{ kind: 'command', command: `cat ${path}`, posix: true, inside: true, reads: [path] },
    });
    const rules = { allow: ['command:cat'], ask: ['read:drafts/**'], deny: ['read:private/**'] };
    for (const each of [rules, { ...rules, allow: [] }]) {
      assert.equal(judge([cat('a.txt')], each).effect, 'allow');
      assert.equal(judge([cat('drafts/a.txt')], each).effect, 'ask');
      assert.deepEqual(judge([cat('private/a.txt')], each), { effect: 'deny', rule: 'read:private/**' });
    }
    const asked: Subject = { kind: 'command', command: 'npm test', posix: true, inside: true, reads: ['test'] };
    assert.deepEqual(offeredRules([asked], rules), ['command:npm test']);
    assert.equal(offeredRules([cat('drafts/a.txt')], rules), undefined);
  });

  it('rules: an absolute path of a file, whose folder has an ambiguous name, is denied or asked about as in the folder', () => {
    const rules = { allow: ['read:src/**'], ask: ['read:src/drafts/**'], deny: ['read:src/private/**'] };
    for (const folder of ['/work/server', 'C:\\work\\server']) {
      const effect = (path: string) => judge([{ kind: 'read', path: `${folder}/src/${path}` }], rules).effect;
      assert.deepEqual([effect('private/a'), effect('drafts/a'), effect('a')], ['deny', 'ask', 'none']);
    }
  });

  it('rules: a rule that can’t be read has no effect', () => {
    const rules = { ...NO_RULES, allow: ['edit', 'edit:', 'everything:**', ':**'] };
    assert.equal(judge([edit('a')], rules).effect, 'none');
  });
});
