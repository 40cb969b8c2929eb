import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { waitUntil } from './wait-until.ts';
import { ARTIFACTS } from './workbench.ts';

const PICTURES = join(import.meta.dirname, '..', '..', 'docs', 'images');
/** Texts in the pictures of docs/images. */
const TEXTS = join(PICTURES, 'texts.json');

/**
 * Takes a picture of docs/images when the page shows the texts of the one there, and fails if it never does. With
 * SVC_DOCS_IMAGES set, the picture is replaced instead.
 * @param name below docs/images, without an extension.
 * @param shown the texts that a picture with another content would change.
 * @param file the test that takes it.
 */
export async function docPicture(
  page: Page,
  name: string,
  shown: string | (() => Promise<string>),
  file: string,
): Promise<void> {
  const read = typeof shown === 'string' ? async () => shown : shown;
  const path = join(ARTIFACTS, `${name}.png`);
  mkdirSync(dirname(path), { recursive: true });
  const texts: Record<string, string> = existsSync(TEXTS) ? JSON.parse(readFileSync(TEXTS, 'utf8')) : {};
  const replaces = Boolean(process.env.SVC_DOCS_IMAGES);
  // Parts of a page arrive one after the other.
  let last = '';
  const isWhole = (text: string) => {
    const before = last;
    last = text;
    return typeof shown === 'string' || text === (replaces ? before : texts[name]);
  };
  await waitUntil(`the texts of ${name}`, read, isWhole).catch(() => undefined);
  await page.screenshot({ path });
  if (replaces) {
    mkdirSync(dirname(join(PICTURES, name)), { recursive: true });
    copyFileSync(path, join(PICTURES, `${name}.png`));
    texts[name] = last;
    const sorted = Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(TEXTS, `${JSON.stringify(sorted, undefined, 2)}\n`);
  }
  const command = `SVC_DOCS_IMAGES=1 npm test -- ${file}`;
  assert.equal(last, texts[name], `docs/images/${name}.png shows something else. Make it again: ${command}`);
}
