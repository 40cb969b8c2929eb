import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { replaceFile } from '../../base/replace-file.ts';
import { UsageError } from '../io.ts';

/** A file that a command changes after some time, in which the user may save it. */
export class EditedFile {
  readonly #path: string;
  readonly #name: string;
  readonly #bytes: Buffer;

  private constructor(path: string, name: string, bytes: Buffer) {
    this.#path = path;
    this.#name = name;
    this.#bytes = bytes;
  }

  /** @param name for messages. @throws UsageError if not all of its bytes can be written again. */
  static async open(path: string, name: string): Promise<EditedFile> {
    const bytes = await readFile(path);
    if (!isUtf8(bytes)) throw new UsageError(`${name} is not UTF-8 text, so it can’t be changed. Nothing was sent.`);
    return new EditedFile(path, name, bytes);
  }

  /** @throws UsageError if the file was changed since it was opened. */
  async write(text: string): Promise<void> {
    if (!this.#bytes.equals(await readFile(this.#path)))
      throw new UsageError(`${this.#name} was changed in the meantime. It was not written.`);
    await replaceFile(this.#path, text);
  }
}
