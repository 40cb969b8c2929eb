import { isObject, type JsonObject, objectOrEmpty, parseJson } from '../../base/json.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { WholeBodyTransform } from './whole-body-transform.ts';

/** The form of a vector (OpenAI, "Create embeddings", `encoding_format`): numbers, or 32-bit floats as base64. */
export type VectorForm = 'float' | 'base64';

/** The form that a client expects; undefined for a form or a type of numbers that only the vendor knows. */
export function requestedForm(body: JsonObject): VectorForm | undefined {
  const type = body.output_dtype ?? body.embedding_type ?? 'float';
  if (type !== 'float') return undefined;
  const form = body.encoding_format ?? 'float';
  return form === 'float' || form === 'base64' ? form : undefined;
}

const NAME = Buffer.from('"embedding"');
const [QUOTE, BRACKET, COLON] = [0x22, 0x5b, 0x3a];

/**
 * Forwards vectors in the form that the client requested. LM Studio, Ollama and others ignore `encoding_format`, and
 * OpenAI's SDK decodes numbers as base64 without an error (openai/openai-node#1542).
 */
export class EmbeddingsTransform extends WholeBodyTransform {
  readonly #provider: string;
  readonly #form: VectorForm | undefined;

  constructor(provider: string, byok: boolean, form: VectorForm | undefined) {
    super(provider, byok);
    this.#provider = provider;
    this.#form = form;
  }

  override whole(received: Buffer): Buffer {
    const body = super.whole(received);
    if (this.#form === undefined || !hasOtherForm(body, this.#form)) return body;
    const value = objectOrEmpty(parseJson(body.toString('utf8')));
    if (!Array.isArray(value.data)) return body;
    const data = value.data.map((item) => this.#convert(item));
    return Buffer.from(JSON.stringify({ ...value, data }));
  }

  #convert(item: unknown): unknown {
    if (!isObject(item)) return item;
    const { embedding } = item;
    if (this.#form === 'base64' && Array.isArray(embedding)) {
      if (!embedding.every((number) => typeof number === 'number')) throw this.#unusable();
      return { ...item, embedding: Buffer.from(Float32Array.from(embedding).buffer).toString('base64') };
    }
    if (this.#form === 'float' && typeof embedding === 'string') return { ...item, embedding: this.#decode(embedding) };
    return item;
  }

  #decode(base64: string): number[] {
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.length === 0 || bytes.length % 4 !== 0) throw this.#unusable();
    return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
  }

  #unusable(): SvcError {
    const message = 'The provider sent a vector that is neither a list of numbers nor base64 of 32-bit floats.';
    return new SvcError({ errorType: 'upstream_invalid_response', message, provider: this.#provider });
  }
}

/** Whether a vector has the other form, by the first character of its value. */
function hasOtherForm(body: Buffer, form: VectorForm): boolean {
  const other = form === 'float' ? QUOTE : BRACKET;
  for (let at = body.indexOf(NAME); at >= 0; at = body.indexOf(NAME, at + 1)) {
    const colon = skipBlanks(body, at + NAME.length);
    if (body[colon] === COLON && body[skipBlanks(body, colon + 1)] === other) return true;
  }
  return false;
}

function skipBlanks(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at += 1;
  return at;
}
