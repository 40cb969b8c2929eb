import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { judgeCommand, offeredPrefixes } from '../../src/chat/permissions/command-verdict.ts';
import { judge, NO_RULES, offeredRules, type Subject } from '../../src/chat/permissions/permission-rules.ts';
import { readRuleSetting } from '../../src/chat/permissions/rule-syntax.ts';
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
    // The shell removes a backslash with a line break before it reads operators.
    ['npm test "$\\\n(touch a)"', ['touch a', 'npm test ?']],
    ['npm test "$\\\n\\\n(touch a)"', ['touch a', 'npm test ?']],
    ['npm test <\\\n(touch a)', ['touch a', 'npm test ?']],
    ['npm test &\\\n& touch a', ['npm test', 'touch a']],
    ['a\\ #$\\\n(touch a)', ['touch a', '?']],
    ['gi\\\nt pu\\\nsh', ['git push']],
    ["echo 'a\\\n' b", ['echo a\\\n b']],
    ['echo a # b \\\ntouch c', ['echo a', 'touch c']],
    ['echo a\\\\\ntouch c', ['echo a\\', 'touch c']],
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
    ...[
      'npm test "$\\\n{x@P}"',
      'npm test "$(echo "$\\\n(touch a)")"',
      "npm test $\\\n'\\x72m'",
      'npm test "$\\\n[1]"',
      'echo "$(a)#\\\n"',
      'cat <\\\n<x\nb\nx',
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

  const HIDDEN: readonly [command: string, rule: string][] = [
    ['git --no-pager push', 'git push'],
    ['git -c a=b push', 'git push'],
    ['git -C . push', 'git push'],
    ['npm --silent publish', 'npm publish'],
    ['ionice rm x', 'rm'],
    ['setsid -w /usr/bin/RM x', 'rm'],
    ['npm test "$\\\n(git push; touch a)"', 'git push'],
    ['for i in a; do gi\\\nt push; done', 'git push'],
    ['git push origin --force=x', 'git push --force'],
    ['rm -r -v -f x', 'rm -rf'],
    ['rm -fr x', 'rm -rf'],
    ['docker run a sh -c "rm -rf x"', 'rm -rf'],
    ['npm exec -c "git push"', 'git push'],
    ['git.exe push', 'git push'],
  ];
  for (const [command, rule] of HIDDEN) {
    it(`command: ${rule} is denied anywhere: ${JSON.stringify(command)}`, () => {
      const [program = ''] = command.split(' ');
      assert.equal(verdict(command, { allow: [program], deny: [rule] }), 'deny');
    });
  }

  it('command: a word that may become a denied one is asked', () => {
    const rules = { allow: ['git'], deny: ['git push'] };
    for (const command of ['git pu*h', 'git {push,x}', 'git {pu.,push}', 'git $X', 'git $(echo push)'])
      assert.notEqual(verdict(command, rules), 'allow', command);
    assert.equal(verdict('git add *.ts', rules), 'allow');
  });

  it('command: options that write or run are not covered by a rule without them', () => {
    const cases: readonly [rule: string, commands: readonly string[]][] = [
      [
        'git log',
        ['git log --output=a', 'git log --outp=a', 'git log --output a', 'git log --ext-diff', 'git log --textconv'],
      ],
      ['git diff', ['git diff --ext-diff', 'git diff -Oa', 'git diff --no-index -o a']],
      ['git grep', ['git grep -Ovim x', 'git grep --open-files-in-pager=x y']],
      ['git', ['git -c a=b log', 'git --exec-path=. log', 'git clone ext::sh', 'git fetch --upload-pack=x']],
      ['sort', ['sort -o a b', 'sort -uo a b', 'sort --compress-program=x a', 'sort --o=a b']],
      ['rg', ['rg --pre x y', 'rg --pre=x y', 'rg --hostname-bin x y']],
      ['fd', ['fd -x rm', 'fd -X rm', 'fd -Hx rm', 'fd --exec rm', 'fd --exec-batch rm']],
      [
        'tar',
        [
          'tar -xf a --to-command=x',
          'tar -I x -xf a',
          'tar -xf a --checkpoint-action=exec=x',
          'tar --use-comp=x -xf a',
        ],
      ],
      ['man', ['man -P x a', 'man --pager=x a']],
      ['xxd', ['xxd -r a b']],
      ['go test', ['go test -exec x', 'go test -o a', 'go test -toolexec=x', 'go test -coverprofile=a']],
      ['npm test', ['npm test --prefix other', 'npm test --script-shell=x', 'npm test --node-options=x']],
      ['vim', ['vim +!x a', 'vim -c !x']],
      ['make', ['make -f other', 'make -C other', 'make --eval=x', 'make SHELL=./x', 'make test .SHELLFLAGS:=-x']],
      ['find .', ['find . -exec x', 'find . -delete', 'find . -fprint a', 'find . -okdir x', 'find . -fls a']],
      ['curl', ['curl -D a x', 'curl -sK a x', 'curl --dump-header a x', 'curl --cookie-jar a x', 'curl -T a x']],
      ['wget', ['wget -P a x', 'wget -i a', 'wget --append-output=a x']],
      ['dd', ['dd if=a of=b']],
      ['/usr/bin/tar', ['/usr/bin/tar -I x -xf a']],
      ['./GO', ['./GO test -exec x']],
    ];
    for (const [rule, commands] of cases) {
      for (const command of commands) assert.equal(verdict(command, { allow: [rule] }), 'none', command);
    }
    assert.equal(verdict('git log --output=a', { allow: ['git log --output=a'] }), 'allow');
    for (const command of [
      'go test -count=1 -v ./...',
      'git log -p -1',
      'rg --pretty x',
      'npm test -- --watch',
      'sort -u a',
    ])
      assert.equal(
        verdict(command, {
          allow: [
            command
              .split(' ')
              .slice(0, command.startsWith('r') || command.startsWith('s') ? 1 : 2)
              .join(' '),
          ],
        }),
        'allow',
        command,
      );
  });

  it('command: a rule covers words that the shell replaces only if their values can be found', () => {
    for (const command of ['cat *.ts', 'cat ~/x', 'cat "$PWD"/a', 'cat a{b,c}'])
      assert.equal(verdict(command, { allow: ['cat'] }), 'allow', command);
    for (const command of [
      'cat $X',
      'cat $(echo .en)v',
      'cat `x`',
      'cat "${HOME}"',
      'cat <(cat a)',
      'cat "$PWD$X"',
      'cat <<<$X',
      'cat <<< "$X"',
    ])
      assert.equal(verdict(command, { allow: ['cat', 'echo', 'x'] }), 'none', command);
  });

  it('command: connections, other processes and input from elsewhere are asked also under a rule', () => {
    for (const command of [
      ...['cat < /dev/tcp/a.example/80', 'cat < /dev/udp/a/1', 'cat < /proc/self/environ', 'cat /proc/1/environ'],
      ...[
        'cat //proc/self/environ',
        'cat < /./dev/tcp/a/1',
        'cat < /dev/fd/3',
        'head -n1 --x=/proc/self/maps',
        'tail -f/proc/1/x',
      ],
    ])
      assert.equal(verdict(command, { allow: ['cat', 'head', 'tail'] }), 'none', command);
    const judged = { command: 'cat < ../a', posix: true, inside: false };
    const rules = { allow: ['cat'], ask: [], deny: [] };
    assert.equal(judgeCommand(judged, rules).effect, 'allow');
    assert.equal(judgeCommand({ ...judged, uncertain: true }, rules).effect, 'none');
    assert.equal(offeredPrefixes({ ...judged, uncertain: true }, { ...rules, allow: [] }), undefined);
  });

  it('command: words inside a text of another command are not denied', () => {
    assert.equal(verdict('git commit -m "rm -rf is gone"', { deny: ['rm -rf'] }), 'none');
  });

  const OFFERED: readonly [command: string, prefixes: readonly string[] | undefined][] = [
    ['npm run build -- --watch', ['npm run build']],
    ['npm test && git status && npx tsc -p .', ['npm test', 'npx tsc']],
    ['make', undefined],
    ['make build', ['make build']],
    ['pytest tests/a.py', ['pytest tests/a.py']],
    ['cat $X; cat -s', undefined],
    ['tsx a.ts', ['tsx a.ts']],
    ['tsx -e x', undefined],
    ['java -jar a.jar', undefined],
    ['ts-node src/a.ts b', ['ts-node src/a.ts']],
    ['git log --output=a', undefined],
    ['sort -o a b', undefined],
    ...['python3.11 a.py', 'gawk x a', 'lua a.lua', 'bash5 a', 'osascript a', 'crontab a', 'strace ls', 'script a'].map(
      (command): [string, undefined] => [command, undefined],
    ),
    ...['unshare a', 'setsid a', 'flock a b', 'parallel a', 'pkexec a', 'tmux a', 'gdb a', 'ed a', 'vim a'].map(
      (command): [string, undefined] => [command, undefined],
    ),
    ...['dig a.example', 'ping a', 'perl5.36 a', 'ionice npm test', 'pypy3 a.py', 'Rscript a.R', 'nvim a'].map(
      (command): [string, undefined] => [command, undefined],
    ),
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

  const MISTAKES: readonly [setting: unknown, deny: readonly string[]][] = [
    [{ deny: ['command:rm', 5] }, ['command:rm', '5']],
    [{ deny: ['command:rm', null], allow: ['edit:**'] }, ['command:rm', 'null']],
    [{ deny: 'command:rm commands:x' }, ['command:rm commands:x']],
    [{ deny: ['commands:rm'] }, ['commands:rm']],
    [{ deny: ['Command:rm'] }, ['Command:rm']],
    [{ deny: ['rm'] }, ['rm']],
    [{ deny: { 'command:rm': true } }, ['{"command:rm":true}']],
    [{ denied: ['command:rm'] }, ['denied']],
    [['command:rm'], ['["command:rm"]']],
    ['command:rm', ['"command:rm"']],
  ];
  for (const [setting, deny] of MISTAKES) {
    it(`rules: a list that denies still restricts with a mistake: ${JSON.stringify(setting)}`, () => {
      const read = readRuleSetting(setting);
      assert.deepEqual(read.deny, deny);
      const rules = { ...read, allow: ['edit:**', 'command:npm', 'tool:a/b'] };
      const npm: Subject = { kind: 'command', command: 'npm test', posix: true, inside: true };
      const known = deny[0] === 'command:rm commands:x';
      for (const subject of [edit('a'), npm, { kind: 'tool', key: 'a/b' }] as const)
        assert.equal(judge([subject], rules).effect, known ? 'allow' : 'ask');
      assert.equal(offeredRules([npm], { ...read, allow: [] }) === undefined, !known);
      const rm = judge([{ ...npm, command: 'rm x' }], rules).effect;
      assert.equal(rm, deny.includes('command:rm') ? 'deny' : known ? 'none' : 'ask');
    });
  }

  it('rules: mistakes in a list that asks make each call a question, those in a list that allows have no effect', () => {
    const rules = { ...readRuleSetting({ allow: ['edit:**', 5, null], ask: [7] }) };
    assert.deepEqual(rules, { allow: ['edit:**'], ask: ['7'], deny: [] });
    assert.equal(judge([edit('a')], rules).effect, 'ask');
    assert.deepEqual(readRuleSetting(undefined), NO_RULES);
    assert.deepEqual(readRuleSetting({}), NO_RULES);
  });
});
