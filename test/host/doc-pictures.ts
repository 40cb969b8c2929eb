import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { ARTIFACTS } from './workbench.ts';

const PICTURES = join(import.meta.dirname, '..', '..', 'docs', 'images');
/** Texts in the pictures of docs/images. */
const TEXTS = join(PICTURES, 'texts.json');

/**
 * Takes a picture of docs/images, and fails if the one there shows other texts. With SVC_DOCS_IMAGES set, the picture is
 * replaced instead.
 * @param name below docs/images, without an extension.
 * @param shown the texts that a picture with another content would change.
 * @param file the test that takes it.
 */
export async function docPicture(page: Page, name: string, shown: string, file: string): Promise<void> {
  const path = join(ARTIFACTS, `${name}.png`);
  mkdirSync(dirname(path), { recursive: true });
  await page.screenshot({ path });
  const texts: Record<string, string> = existsSync(TEXTS) ? JSON.parse(readFileSync(TEXTS, 'utf8')) : {};
  if (process.env.SVC_DOCS_IMAGES) {
    mkdirSync(dirname(join(PICTURES, name)), { recursive: true });
    copyFileSync(path, join(PICTURES, `${name}.png`));
    texts[name] = shown;
    const sorted = Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(TEXTS, `${JSON.stringify(sorted, undefined, 2)}\n`);
  }
  const command = `SVC_DOCS_IMAGES=1 npm test -- ${file}`;
  assert.equal(shown, texts[name], `docs/images/${name}.png shows something else. Make it again: ${command}`);
}
