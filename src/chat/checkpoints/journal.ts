import { mkdir, open, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../base/json.ts';

/** A changed file of an entry. `before` and `after` are hashes of contents; null: the file does not exist. */
const fileSchema = z.object({
  kind: z.enum(['create', 'edit', 'rename', 'delete']),
  path: z.string(),
  newPath: z.string().exactOptional(),
  added: z.number(),
  removed: z.number(),
  before: z.string().nullable(),
  /** Ids of the changes that this one takes back. */
  reverts: z.array(z.string()).exactOptional(),
});

const lineSchema = z.union([
  /** Written before files are changed. */
  z.object({
    type: z.literal('begin'),
    id: z.string(),
    /** Unix milliseconds. */
    at: z.number(),
    message: z.string(),
    call: z.string(),
    files: z.array(fileSchema),
  }),
  /** Written after that: the contents of the files, in the same order. The last one of an entry counts. */
  z.object({ type: z.literal('end'), id: z.string(), after: z.array(z.string().nullable()) }),
  z.object({ type: z.literal('keep'), ids: z.array(z.string()) }),
]);

export type JournalLine = z.infer<typeof lineSchema>;
export type JournalFile = z.infer<typeof fileSchema>;

/** The append-only record of a conversation's changes. Two windows may append to one. */
export class Journal {
  readonly #file: string;
  #stamp = '';
  #lines: readonly JournalLine[] = [];

  /** @param file absolute. Its folder is created on the first write. */
  constructor(file: string) {
    this.#file = file;
  }

  /** All lines, also those of another window. An incomplete line, as after a crash, is skipped. */
  async lines(): Promise<readonly JournalLine[]> {
    const { mtimeMs, size } = await stat(this.#file).catch(() => ({ mtimeMs: 0, size: 0 }));
    const stamp = `${mtimeMs}/${size}`;
    if (stamp !== this.#stamp) {
      const text = size === 0 ? '' : await readFile(this.#file, 'utf8');
      this.#lines = text.split('\n').flatMap((row) => lineSchema.safeParse(parseJson(row)).data ?? []);
      this.#stamp = stamp;
    }
    return this.#lines;
  }

  /** Resolves when the line is on the disk, also if the power fails. */
  async append(line: JournalLine): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    const handle = await open(this.#file, 'a', 0o600);
    try {
      // Begins with a line end, because the line before may be incomplete.
      await handle.writeFile(`\n${JSON.stringify(line)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}
