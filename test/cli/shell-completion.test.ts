import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { listOptions } from '../../src/cli/options.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { FISH, programPath, ZSH } from '../host/programs.ts';
import { svc } from './run-svc.ts';

describe('svc completion', () => {
  const offered = (...words: string[]) => offeredFrom(['a/one', 'a/two'], words);

  /** The suggestions of bash for the last word of a line, when `svc models` lists these models. */
  async function offeredFrom(models: readonly string[], words: readonly string[]): Promise<string[]> {
    using folder = new ProjectFolder();
    const { code, out } = await svc(folder, ['completion', 'bash']);
    assert.equal(code, 0);
    const script = path.join(folder.root, 'svc.bash');
    writeFileSync(script, out);
    const bin = path.join(folder.root, 'bin');
    mkdirSync(bin);
    writeFileSync(path.join(folder.root, 'models'), `${models.join('\n')}\n`);
    writeFileSync(path.join(bin, 'svc'), `#!/bin/sh\ncat ${path.join(folder.root, 'models')}\n`, { mode: 0o755 });
    const line = `source ${script}; COMP_WORDS=(svc ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { PATH: `${bin}:${process.env.PATH}` };
    const printed = execFileSync('bash', ['--norc', '-c', line], { env, encoding: 'utf8', cwd: folder.root });
    assert.deepEqual(
      readdirSync(folder.root).filter((name) => name.startsWith('RAN')),
      [],
      'an id was run',
    );
    return printed.split('\n').filter((word) => word !== '');
  }

  it('svc completion: completes commands, their arguments, options and choices', async () => {
    assert.deepEqual(await offered('ch'), ['chat']);
    assert.deepEqual(await offered('keys', 'r'), ['rotate', 'revoke']);
    assert.deepEqual(await offered('chat', '--v'), ['--variant']);
    assert.deepEqual(await offered('usage', '--by', 'd'), ['day']);
  });

  it('svc completion: completes the models that svc models lists', async () => {
    assert.deepEqual(await offered('chat', '-m', 'a/t'), ['a/two']);
    assert.deepEqual(await offered('fim', '--model', ''), ['a/one', 'a/two']);
  });

  it('svc completion: an id of a provider or a project is never run or expanded', async () => {
    const hostile = [
      '$(touch RAN1)',
      '`touch RAN2`',
      '$(touch${IFS}RAN3)',
      '${PATH}',
      '~',
      '*',
      'a b',
      ';touch RAN4',
      '<(touch RAN5)',
    ];
    const models = hostile.flatMap((id) => [id, `p/${id}`, `p/m:${id}`]);
    assert.deepEqual(await offeredFrom([...models, 'p/m:high', 'p/@x/y+z'], ['chat', '-m', '']), [
      'p/m:high',
      'p/@x/y+z',
    ]);
    for (const id of hostile) assert.deepEqual(await offeredFrom(models, ['chat', '--model', id]), []);
  });

  for (const [shell, ask] of [
    ['zsh', 'compdef() { :; }; compadd() { print -rl -- $models; }; source SCRIPT; _svc_models'],
    ['fish', 'source SCRIPT; complete -C"svc chat --model "'],
  ] as const) {
    it(`svc completion: ${shell} runs no id`, async () => {
      using folder = new ProjectFolder();
      const { out } = await svc(folder, ['completion', shell]);
      const script = path.join(folder.root, 'script');
      const bin = path.join(folder.root, 'bin');
      writeFileSync(script, out);
      mkdirSync(bin);
      const printing = "#!/bin/sh\nprintf '%s\\n' 'a/one' 'a/$(touch RAN1)' 'a/`touch RAN2`'\n";
      writeFileSync(path.join(bin, 'svc'), printing, { mode: 0o755 });
      const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder.root };
      const program = programPath(shell === 'zsh' ? ZSH : FISH);
      const args = shell === 'zsh' ? ['-f', '-c'] : ['--no-config', '-c'];
      const printed = execFileSync(program, [...args, ask.replace('SCRIPT', script)], {
        ...{ env, encoding: 'utf8', cwd: folder.root },
      });
      assert.deepEqual(
        printed.split('\n').flatMap((line) => (line.startsWith('a/') ? line.split('\t', 1) : [])),
        ['a/one'],
      );
      assert.deepEqual(
        readdirSync(folder.root).filter((name) => name.startsWith('RAN')),
        [],
      );
    });
  }

  it('svc completion: the script of each shell contains every command and option', async () => {
    using folder = new ProjectFolder();
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { out } = await svc(folder, ['completion', shell]);
      for (const { name, options } of COMMANDS) {
        assert.ok(out.includes(name), `${shell}: ${name}`);
        for (const option of listOptions(options)) {
          const flag = shell === 'fish' ? `-l ${option.name}` : `--${option.name}`;
          assert.ok(out.includes(flag), `${shell}: ${flag}`);
        }
      }
    }
  });

  it('svc completion: exits with 2 for an unknown shell', async () => {
    using folder = new ProjectFolder();
    const { code, err } = await svc(folder, ['completion', 'tcsh']);
    assert.equal(code, 2);
    assert.match(err, /bash, zsh and fish/);
  });
});

describe('the table of commands', () => {
  for (const { name, options } of COMMANDS) {
    for (const option of listOptions(options)) {
      it(`command table: svc ${name} accepts --${option.name}`, async () => {
        using folder = new ProjectFolder();
        const value = option.value === undefined ? [] : ['0'];
        // An extra argument stops each command before it does anything; an unknown option would be reported first.
        const { err } = await svc(folder, [name, `--${option.name}`, ...value, '--no-such-option']);
        assert.match(err, /no-such-option/);
        assert.doesNotMatch(err, new RegExp(`Unknown option --${option.name}\\.`));
      });
    }
  }

  it('command table: help shows all commands, or the options of one command', async () => {
    using folder = new ProjectFolder();
    const all = await svc(folder, ['help']);
    for (const { name, summary } of COMMANDS) assert.ok(all.out.includes(name) && all.out.includes(summary));
    const one = await svc(folder, ['help', 'chat']);
    assert.match(one.out, /-m, --model MODEL +Use this model/);
    assert.equal((await svc(folder, ['chat', '--help'])).out, one.out);
  });
});
