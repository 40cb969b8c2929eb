import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { listOptions } from '../../src/cli/options.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { svc } from './run-svc.ts';

describe('svc completion', () => {
  /** The suggestions of bash for the last word of a line. */
  async function offered(...words: string[]): Promise<string[]> {
    using folder = new ProjectFolder();
    const { code, out } = await svc(folder, ['completion', 'bash']);
    assert.equal(code, 0);
    const script = path.join(folder.root, 'svc.bash');
    writeFileSync(script, out);
    const bin = path.join(folder.root, 'bin');
    mkdirSync(bin);
    writeFileSync(path.join(bin, 'svc'), '#!/bin/sh\necho a/one\necho a/two\n', { mode: 0o755 });
    const line = `source ${script}; COMP_WORDS=(svc ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { PATH: `${bin}:${process.env.PATH}` };
    const printed = execFileSync('bash', ['--norc', '-c', line], { env, encoding: 'utf8' });
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
