import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, errorTemplates, faults, shownTexts } from '../../scripts/localization.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MANIFEST = readFileSync(join(ROOT, 'package.json'), 'utf8');

/** `node scripts/localization.ts` collects the texts and reports missing translations. */
describe('localization', () => {
  const texts = shownTexts();

  it('localization: finds the texts in the sources', () => {
    for (const text of [
      'Add Custom Provider',
      'Completions are off in {0}.',
      'Enter an ID.',
      'The key was not accepted',
      'Write tests',
    ]) {
      assert.ok(texts.includes(text), text);
    }
  });

  it('localization: each text is in the bundle and in German, with the same placeholders', () => {
    assert.deepEqual(faults(texts, bundle('l10n/bundle.l10n.json')), []);
    assert.deepEqual(faults(texts, bundle('l10n/bundle.l10n.de.json')), []);
  });

  it('localization: texts of the editor have no marks of code, which dialogs and lists show as they are', () => {
    // The editor removes them from errors (`translate`), which the terminal and the API show too.
    const errors = new Set(errorTemplates());
    const marked = texts.filter((text) => text.includes('`') && !errors.has(text));
    // VS Code renders this one as Markdown.
    assert.deepEqual(marked, ['Adds the command `svc`']);
  });

  it('localization: each text of the manifest exists in both languages', () => {
    const keys = [...MANIFEST.matchAll(/"%([\w.-]+)%"/g)].map(([, key = '']) => key).sort();
    assert.deepEqual(Object.keys(bundle('package.nls.json')).sort(), keys);
    assert.deepEqual(Object.keys(bundle('package.nls.de.json')).sort(), keys);
  });

  it('localization: commands and files of the walkthrough exist', () => {
    const manifest: unknown = JSON.parse(MANIFEST);
    const commands = new Set([...MANIFEST.matchAll(/"command": "(svc\.[\w.]+)"/g)].map(([, command]) => command));
    for (const file of ['package.nls.json', 'package.nls.de.json']) {
      const called = [...JSON.stringify(bundle(file)).matchAll(/\(command:([\w.]+)/g)].map(([, command]) => command);
      assert.ok(called.length > 0);
      assert.deepEqual(
        called.filter((command) => !commands.has(command ?? '')),
        [],
      );
    }
    const media = [...JSON.stringify(manifest).matchAll(/"markdown":"([^"]+)"/g)].map(([, path = '']) => path);
    assert.ok(media.length > 0);
    for (const path of media) assert.ok(existsSync(join(ROOT, path)), path);
  });
});
