import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { jsonSchema } from '../../src/config/schema/schema.ts';
import { ERROR_TYPES } from '../../src/wire/errors/svc-error.ts';
import { blocks, commands, PAGES, prose, ROOT, read } from './pages.ts';

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const names: Record<string, string> = JSON.parse(readFileSync(join(ROOT, 'package.nls.json'), 'utf8'));
const settings = new Set(
  manifest.contributes.configuration.flatMap(({ properties }: { properties: object }) => Object.keys(properties)),
);

/** The anchor of a heading, as on GitHub. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

describe('documentation pages', () => {
  for (const page of PAGES) {
    it(`${page}: links lead to existing targets`, () => {
      for (const [, target = ''] of prose(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^(?:https?|mailto):/.test(target)) continue;
        const [file = '', hash] = target.split('#');
        const path = file === '' ? page : join(dirname(page), file);
        assert.ok(existsSync(join(ROOT, path)), `${page}: ${target}`);
        if (hash === undefined) continue;
        const headings = [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchor(heading));
        assert.ok(headings.includes(hash), `${page}: ${target}; there is ${headings.join(', ')}`);
      }
    });

    it(`${page}: names existing commands, settings and variables`, () => {
      const text = prose(page);
      const titles = Object.values(names);
      for (const [, title = ''] of text.matchAll(/[“*]Svc: ([^”*]+)[”*]/g))
        assert.ok(titles.includes(title), `${page}: Svc: ${title}`);
      for (const [, key = ''] of text.matchAll(/`(svc\.(?:completion|nextEdit|chat|gateway|terminal)\.\w+)`/g))
        assert.ok(settings.has(key), `${page}: ${key}`);
      for (const [, call = ''] of text.matchAll(/`svc ([^`]+)`/g)) known(page, call);
      for (const [, script = ''] of text.matchAll(/`npm run ([\w:-]+)/g))
        assert.ok(script in manifest.scripts, `${page}: npm run ${script}`);
    });
  }

  it('documentation: names existing files and folders of the sources', () => {
    // A path in a sentence is marked as code and ends with a slash or with the extension of a source.
    const places = [...prose('docs/architecture.md').matchAll(/`((?:[\w-]+\/)+(?:[\w.-]+\.tsx?)?)`/g)].map(
      ([, place = '']) => place,
    );
    assert.ok(places.length > 0);
    // Build output exists only after a build.
    const ofSources = places.filter((place) => !place.startsWith('dist/'));
    assert.deepEqual(
      ofSources.filter((place) => !existsSync(join(ROOT, 'src', place)) && !existsSync(join(ROOT, place))),
      [],
    );
  });

  it('documentation: lists each layer of the sources, and no other', () => {
    const [layers] = blocks('docs/architecture.md');
    const listed = [...(layers?.text ?? '').matchAll(/(?:^|\s{2,})([\w-]+)\/\s/gm)].map(([, name]) => name);
    const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    assert.deepEqual(listed.sort(), folders.map(({ name }) => name).sort());
  });

  it('documentation: shell commands are accepted by svc and npm', () => {
    for (const block of PAGES.flatMap(blocks)) {
      if (block.language !== 'sh') continue;
      for (const line of commands(block)) {
        for (const [, call = ''] of line.matchAll(/(?:^|\(|&& )svc ([^|<>)]*)/g)) known(block.page, call);
        for (const [, script = ''] of line.matchAll(/npm (?:run )?(start|test|package|build)/g))
          assert.ok(script in manifest.scripts, `${block.page}: ${line}`);
      }
    }
  });

  it('documentation: describes each error type, and no other, for programs and for users', () => {
    for (const page of ['docs/errors.md', 'docs/troubleshooting.md']) {
      const told = new Set([...read(page).matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name]) => name));
      // Errors that only clients of the gateway can cause are not in the editor's documentation.
      const forPrograms = [
        'invalid_request',
        'invalid_path',
        'method_not_allowed',
        'permission_denied',
        'origin_not_allowed',
        'client_disconnect',
      ];
      const expected = ERROR_TYPES.filter((type) => page === 'docs/errors.md' || !forPrograms.includes(type));
      assert.deepEqual(
        expected.filter((type) => !told.has(type)),
        [],
        page,
      );
    }
  });

  it('documentation: describes each setting of the editor and each key of svc.jsonc', () => {
    const all = PAGES.map(read).join('\n');
    for (const key of settings) assert.ok(all.includes(`\`${key}\``), String(key));
    const configuration = read('docs/configuration.md');
    for (const key of Object.keys(jsonSchema().properties ?? {})) assert.ok(configuration.includes(`\`${key}\``), key);
  });
});

/** Whether a command line, without `svc`, has an existing command and existing options. */
function known(page: string, call: string): void {
  const [name = '', ...words] = call.split(/\s+/);
  // Placeholders, `svc help`, options without a command, and files.
  if (!/^[a-z]+$/.test(name) || name === 'help') return;
  const command = COMMANDS.find((each) => each.name === name);
  assert.ok(command, `${page}: svc ${call}`);
  for (const word of words) {
    const [, flag] = /^\[?--([\w-]+)/.exec(word) ?? [];
    if (flag === undefined) continue;
    assert.ok(flag in (command.options ?? {}), `${page}: svc ${call}: --${flag}`);
  }
}
