import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../base/replace-file.ts';

/** The SHA-256 of a content, in hexadecimal. */
export function contentHash(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Contents of files by their hash, one file each. */
export class ContentStore {
  readonly #folder: string;

  /** @param folder absolute. It is created on the first write. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Keeps a content and returns its hash. */
  async put(content: Uint8Array): Promise<string> {
    const hash = contentHash(content);
    const known = await stat(this.#file(hash)).catch(() => undefined);
    if (known?.size === content.length) return hash;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await replaceFile(this.#file(hash), content);
    return hash;
  }

  /** Undefined if it is no longer kept, or damaged. */
  async get(hash: string): Promise<Uint8Array | undefined> {
    const content = await readFile(this.#file(hash)).catch(() => undefined);
    return content && contentHash(content) === hash ? content : undefined;
  }

  /** The size of all contents in bytes. */
  async size(): Promise<number> {
    const names = await readdir(this.#folder).catch(() => []);
    const sizes = await Promise.all(names.map((name) => stat(join(this.#folder, name)).catch(() => ({ size: 0 }))));
    return sizes.reduce((sum, { size }) => sum + size, 0);
  }

  /** Removes a content and returns its size. */
  async remove(hash: string): Promise<number> {
    const { size } = await stat(this.#file(hash)).catch(() => ({ size: 0 }));
    await rm(this.#file(hash), { force: true });
    return size;
  }

  #file(hash: string): string {
    return join(this.#folder, hash);
  }
}
