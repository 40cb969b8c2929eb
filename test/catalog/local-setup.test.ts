import assert from 'node:assert/strict';
import { editDialect } from '../../src/catalog/edit-ability.ts';
import { findTemplate } from '../../src/catalog/fim-ability.ts';
import {
  foreignWindow,
  installOllama,
  type LocalProgram,
  type Machine,
  pathWithOllama,
  planLocalModels,
} from '../../src/catalog/local-setup.ts';

const card = (memory: number) => ({ name: 'RTX', memory });
const MACHINES: readonly (readonly [name: string, machine: Machine, chat: string | undefined, window: number])[] = [
  ['4 GB, 2 cores', { memory: 4, cores: 2 }, undefined, 8_192],
  ['8 GB, 4 cores', { memory: 8, cores: 4 }, undefined, 8_192],
  ['16 GB, 8 cores', { memory: 16, cores: 8 }, 'Qwen3 4B', 16_384],
  ['64 GB, 16 cores', { memory: 64, cores: 16 }, 'Qwen3-Coder 30B', 32_768],
  ['a card with 6 GB', { memory: 16, cores: 8, gpu: card(6) }, undefined, 8_192],
  ['a card with 8 GB', { memory: 32, cores: 8, gpu: card(8.6) }, 'Qwen3 4B', 8_192],
  ['a card with 12 GB', { memory: 32, cores: 8, gpu: card(12.9) }, 'Qwen3 8B', 16_384],
  ['a card with 24 GB', { memory: 64, cores: 16, gpu: card(25.7) }, 'gpt-oss 20B', 32_768],
  ['a card with 48 GB', { memory: 64, cores: 16, gpu: card(51.5) }, 'Qwen3-Coder 30B', 32_768],
  [
    'a Mac with 16 GB',
    { memory: 17, cores: 8, gpu: { name: 'Apple M2', memory: 17, unified: true } },
    'Qwen3 8B',
    16_384,
  ],
];

describe('models that fit a machine', () => {
  for (const [name, machine, chat, window] of MACHINES) {
    it(`local set-up: ${name}: ${chat ?? 'completions and next edits only'}`, () => {
      const { models, ...plan } = planLocalModels(machine, 'ollama', '/bin/bash');
      assert.deepEqual(
        models.map(({ use }) => use),
        ['completion', 'nextEdit', ...(chat === undefined ? [] : ['chat'])],
      );
      assert.equal(models.find(({ use }) => use === 'chat')?.name, chat);
      assert.equal(plan.window, window);
    });
  }

  it('local set-up: a server of someone else gets half the window, but enough for an agent', () => {
    assert.deepEqual([32_768, 16_384, 8_192].map(foreignWindow), [16_384, 8_192, 8_192]);
  });

  it('local set-up: Svc recognizes each model by the id that its server has', () => {
    for (const program of ['ollama', 'llamacpp'] satisfies LocalProgram[]) {
      for (const [, machine] of MACHINES) {
        for (const { use, id, license, size } of planLocalModels(machine, program, '/bin/zsh').models) {
          if (use === 'completion') assert.equal(findTemplate(id), 'template-qwen');
          if (use === 'nextEdit') assert.equal(editDialect({ kind: program }, undefined, id), 'sweep-1');
          assert.ok(license !== '' && size > 0);
        }
      }
    }
  });

  it('local set-up: the command of Ollama sets window, flash attention and cache in each shell', () => {
    const serve = (shell: string) => planLocalModels({ memory: 64, cores: 16 }, 'ollama', shell).serve;
    assert.equal(
      serve('/usr/bin/fish'),
      'OLLAMA_CONTEXT_LENGTH=32768 OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 OLLAMA_KEEP_ALIVE=1h ollama serve',
    );
    assert.match(
      serve('C:\\Program Files\\PowerShell\\7\\pwsh.exe') ?? '',
      /^\$env:OLLAMA_CONTEXT_LENGTH='32768'; .*; ollama serve$/,
    );
    assert.match(
      serve('C:\\Windows\\System32\\cmd.exe') ?? '',
      /^set "OLLAMA_CONTEXT_LENGTH=32768" && .*ollama serve$/,
    );
  });

  it('local set-up: each llama.cpp server has its own port, window and one slot', () => {
    const { serve, models } = planLocalModels({ memory: 64, cores: 16 }, 'llamacpp', '/bin/bash');
    assert.equal(serve, undefined);
    assert.equal(models[0]?.name, 'Qwen2.5-Coder 1.5B', 'without a graphics card, a larger model is too slow');
    assert.equal(new Set(models.map(({ baseURL }) => baseURL)).size, 3);
    for (const { command } of models)
      assert.match(
        command,
        /^llama-server -hf \S+ .*--ctx-size \d+ --parallel 1 --flash-attn on --cache-type-k q8_0 --cache-type-v q8_0 /,
      );
    assert.match(models[2]?.command ?? '', /--ctx-size 32768 .* --jinja$/);
  });

  it('local set-up: sizes and the choice for llama.cpp are those of its files', () => {
    const plan = (program: LocalProgram, memory: number) =>
      planLocalModels({ memory: 64, cores: 16, gpu: card(memory) }, program, '/bin/bash').models.map(
        ({ name, size }) => [name, size] as const,
      );
    assert.deepEqual(plan('llamacpp', 51.5)[0], ['Qwen2.5-Coder 7B', 8.1]);
    assert.deepEqual(plan('ollama', 51.5)[0], ['Qwen2.5-Coder 7B', 4.7]);
    assert.deepEqual(plan('llamacpp', 25.7)[2], ['gpt-oss 20B', 12.1]);
  });

  it('local set-up: on Windows, an Ollama that was installed since the editor started is found', () => {
    const env = { PATH: 'C:\\Windows', LOCALAPPDATA: 'C:\\Users\\Jörg\\AppData\\Local' };
    assert.deepEqual(pathWithOllama(env, 'win32'), {
      PATH: 'C:\\Windows;C:\\Users\\Jörg\\AppData\\Local\\Programs\\Ollama',
    });
    assert.equal(pathWithOllama(env, 'linux'), undefined, 'the PATH of the shell stays');
  });

  it('local set-up: Ollama is installed by one command where there is one', () => {
    assert.equal(installOllama('darwin', false), undefined);
    assert.equal(installOllama('darwin', true), 'brew install ollama');
    assert.match(installOllama('linux', false) ?? '', /^curl /);
  });
});
