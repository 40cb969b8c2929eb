import { Readable } from 'node:stream';
import { invalidRequest } from '../wire/errors.ts';
import { type JsonObject, objectOf, textOf } from '../wire/json.ts';
import { admit, type Caller, identify } from './caller.ts';
import type { Exchange } from './exchange.ts';
import { meter } from './metering.ts';
import { refuseOtherModels } from './model-fields.ts';
import { filePart, multipartEnd, newBoundary, textPart } from './multipart.ts';
import { byokOf } from './organization.ts';
import type { GatewayParts } from './parts.ts';
import { PlainTap } from './plain-tap.ts';
import { relay } from './relay.ts';
import { parseBody, readBody } from './request-body.ts';
import { requestedRef } from './requested-model.ts';
import type { Route } from './router.ts';
import { countingFailures } from './serve-from.ts';
import { requireOpenAI, type SpecialModel, specialModel } from './special-model.ts';
import { estimateTranscript } from './transcript.ts';
import { upstreamTarget } from './upstream-target.ts';

/** `POST /audio/transcriptions`: multipart as OpenAI has it, or JSON with `input_audio`. */
export function transcriptionRoute(parts: GatewayParts): Route {
  return { method: 'POST', path: '/audio/transcriptions', handle: (exchange) => transcribe(parts, exchange) };
}

async function transcribe(parts: GatewayParts, exchange: Exchange): Promise<void> {
  const caller = identify(parts, exchange);
  const type = exchange.header('content-type') ?? '';
  if (/^multipart\/form-data\b/i.test(type)) return transcribeForm(parts, exchange, caller);
  const { value } = parseBody(await readBody(exchange, parts.settings().gateway.maxBodyBytes));
  refuseOtherModels(value);
  const model = admitted(parts, exchange, caller, requestedRef(value));
  const { data, format } = inputAudio(value);
  const boundary = newBoundary();
  const pieces = fieldsOf(value).map(([name, text]) => textPart(boundary, name, text));
  pieces.push(textPart(boundary, 'model', model.id), filePart(boundary, 'file', `audio.${format}`, `audio/${format}`));
  const body = Buffer.concat([...pieces, data, multipartEnd(boundary)]);
  await send(parts, exchange, caller, model, { body, boundary, sent: () => body.length });
}

/** The form's parts go on as they come; only the model's name is another one. */
async function transcribeForm(parts: GatewayParts, exchange: Exchange, caller: Caller): Promise<void> {
  const { FormRelay } = await import('./form-relay.ts');
  const form = new FormRelay(exchange, parts.settings().gateway.maxBodyBytes);
  const model = admitted(parts, exchange, caller, await form.model());
  const boundary = newBoundary();
  const body = Readable.from(form.parts(boundary, model.id));
  try {
    await send(parts, exchange, caller, model, { body, boundary, sent: () => form.sent });
  } finally {
    // Its source may be a client that went away; that error has been told.
    body.on('error', () => undefined).destroy();
  }
}

function admitted(parts: GatewayParts, exchange: Exchange, caller: Caller, ref: string): SpecialModel {
  const model = specialModel(parts, ref, parts.settings().gateway.transcriptionModels);
  exchange.facts.model = model.ref;
  admit(parts, caller, model);
  requireOpenAI(model);
  return model;
}

interface Form {
  readonly body: Buffer | Readable;
  readonly boundary: string;
  /** Bytes that were sent on so far. */
  readonly sent: () => number;
}

async function send(
  parts: GatewayParts,
  exchange: Exchange,
  caller: Caller,
  model: SpecialModel,
  form: Form,
): Promise<void> {
  const credential = byokOf(caller.organization, model, parts.settings());
  const byok = credential !== undefined;
  const { origin, path, headers } = upstreamTarget(model.endpoint, '/audio/transcriptions', undefined, credential);
  const tap = new PlainTap(model.provider, byok);
  const outcome = await countingFailures(parts, exchange, model, byok, () =>
    relay(exchange, {
      origin,
      path,
      headers: { ...headers, 'content-type': `multipart/form-data; boundary=${form.boundary}` },
      dispatcher: parts.dispatcher,
      body: form.body,
      tap,
      provider: model.provider,
      byok,
      stream: false,
      anyBody: true,
      timeout: model.endpoint.timeout,
    }),
  );
  const { ended, model: answeredBy, ...answer } = outcome;
  const sent = form.sent();
  const estimate = estimateTranscript(tap.body, answer.characters, sent);
  meter(parts, exchange, caller, { ...answer, model, byok, sent, outcome: ended, answeredBy, estimate });
}

function inputAudio(body: JsonObject): { data: Buffer; format: string } {
  const { data, format } = objectOf(body.input_audio);
  const base64 = textOf(data);
  if (base64 === undefined || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) {
    throw invalidRequest('input_audio.data', '`input_audio.data` must be base64.');
  }
  const name = textOf(format);
  if (name === undefined || !/^[a-z0-9]{1,10}$/.test(name)) {
    throw invalidRequest('input_audio.format', '`input_audio.format` must be a format such as "wav" or "mp3".');
  }
  return { data: Buffer.from(base64, 'base64'), format: name };
}

/** Everything but model and file, as form fields. */
function fieldsOf(body: JsonObject): [string, string][] {
  return Object.entries(body).flatMap(([name, value]): [string, string][] => {
    if (name === 'model' || name === 'input_audio' || value === undefined || value === null) return [];
    if (Array.isArray(value)) return value.map((item) => [`${name}[]`, String(item)]);
    return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
  });
}
