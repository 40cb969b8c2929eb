import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { invalidRequest, SvcError } from '../../wire/errors/svc-error.ts';
import { refuseOtherModel } from '../dispatch/model-fields.ts';
import type { HeldBodies } from '../http/body-memory.ts';
import { filePart, multipartEnd, PART_END, textPart } from '../http/multipart.ts';
import { clientGone } from '../http/request-body.ts';
import type { RequestContext } from '../http/request-context.ts';

const MAX_FIELDS = 100;
const MAX_FIELD_BYTES = 100_000;

type Part =
  | { readonly type: 'field'; readonly name: string; readonly text: string }
  | {
      readonly type: 'file';
      readonly name: string;
      readonly filename: string;
      readonly mediaType: string;
      readonly stream: Readable;
    };

/**
 * Forwards a multipart form to an upstream. The file is streamed once the model is known. Parts that
 * arrive before the field `model` are held in memory, up to the limit of the body.
 */
export class FormRelay {
  readonly #parts: AsyncGenerator<Part>;
  /** The parts before the field `model`, as bytes without boundaries. */
  readonly #held: { readonly part: Part; readonly bytes: Buffer }[] = [];
  readonly #limit: number;
  readonly #memory: HeldBodies;
  #sent = 0;

  constructor({ request, held }: Pick<RequestContext, 'request' | 'held'>, limit: number) {
    this.#limit = limit;
    this.#memory = held;
    this.#parts = readParts(request, limit);
  }

  /** Reads up to the field `model` and returns it. @throws SvcError 400 if there is none. */
  async model(): Promise<string> {
    for (;;) {
      const next = await this.#parts.next();
      if (next.done) throw invalidRequest('model', 'The form has no field “model”.');
      const part = next.value;
      if (part.type === 'field' && part.name === 'model') return part.text;
      refuseOtherModel(part.name);
      this.#held.push({ part, bytes: part.type === 'file' ? await this.#hold(part.stream) : Buffer.alloc(0) });
    }
  }

  /** Bytes that have been sent to the upstream. */
  get sent(): number {
    return this.#sent;
  }

  /** The form for the upstream, with the upstream's name of the model. */
  async *parts(boundary: string, model: string): AsyncGenerator<Buffer> {
    for await (const bytes of this.#pieces(boundary, model)) {
      this.#sent += bytes.length;
      yield bytes;
    }
  }

  async *#pieces(boundary: string, model: string): AsyncGenerator<Buffer> {
    let files = 0;
    for (const { part, bytes } of this.#held) {
      if (part.type === 'field') yield textPart(boundary, part.name, part.text);
      else {
        files += 1;
        yield Buffer.concat([filePart(boundary, part.name, part.filename, part.mediaType), bytes, PART_END]);
      }
    }
    yield textPart(boundary, 'model', model);
    for await (const part of this.#parts) {
      refuseOtherModel(part.name);
      if (part.type === 'field') {
        yield textPart(boundary, part.name, part.text);
        continue;
      }
      files += 1;
      yield filePart(boundary, part.name, part.filename, part.mediaType);
      for await (const bytes of part.stream) yield bytes;
      yield PART_END;
    }
    if (files === 0) throw invalidRequest('file', 'The form has no file.');
    yield multipartEnd(boundary);
  }

  async #hold(stream: Readable): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of stream) {
      length += chunk.length;
      if (length > this.#limit) throw tooLarge('The file', this.#limit);
      this.#memory.add(chunk.length);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}

/** Yields the parts in order. The stream of a file must be read before the next part is requested. */
async function* readParts(request: RequestContext['request'], limit: number): AsyncGenerator<Part> {
  const queue: Part[] = [];
  let over = false;
  let failure: SvcError | undefined;
  let wake: () => void = () => undefined;
  const fail = (error: SvcError) => {
    failure ??= error;
    for (const part of queue) if (part.type === 'file') part.stream.destroy(error);
    wake();
  };
  let parser: ReturnType<typeof busboy>;
  try {
    parser = busboy({
      headers: request.headers,
      limits: { files: 1, fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, fileSize: limit },
    });
  } catch {
    throw invalidRequest('', 'The form’s Content-Type has no valid boundary.');
  }
  // Without these errors the parser would drop the parts beyond its limits, and the upstream would get another form.
  parser.on('fieldsLimit', () => fail(invalidRequest('', `The form has more than ${MAX_FIELDS} fields.`)));
  parser.on('filesLimit', () => fail(invalidRequest('file', 'The form has more than one file.')));
  parser.on('field', (name, text, { nameTruncated, valueTruncated }) => {
    if (nameTruncated || valueTruncated) return fail(tooLarge('A field', MAX_FIELD_BYTES));
    queue.push({ type: 'field', name, text });
    wake();
  });
  parser.on('file', (name, stream, { filename, mimeType }) => {
    // The stream may fail before it is read. The reader then gets the error.
    stream.on('error', () => undefined);
    stream.on('limit', () => stream.destroy(tooLarge('The file', limit)));
    queue.push({ type: 'file', name, filename: filename ?? 'audio', mediaType: mimeType, stream });
    wake();
  });
  parser.on('close', () => {
    over = true;
    wake();
  });
  parser.on('error', () => fail(invalidRequest('', 'The form is not valid multipart/form-data.')));
  request.on('close', () => {
    if (!request.complete) fail(clientGone());
  });
  request.pipe(parser);
  for (;;) {
    const part = queue.shift();
    if (part !== undefined) yield part;
    else if (failure !== undefined) throw failure;
    else if (over) return;
    else await new Promise<void>((resolve) => (wake = resolve));
  }
}

function tooLarge(what: string, limit: number): SvcError {
  return new SvcError({
    errorType: 'request_too_large',
    message: `${what} is larger than ${limit} bytes.`,
    action: 'Send less, or raise gateway.maxBodyBytes.',
  });
}
