import { Readable } from 'node:stream';
import { type JsonObject, nonEmptyString, objectOrEmpty } from '../../base/json.ts';
import { upstreamTarget } from '../../provider/upstream-target.ts';
import { invalidRequest } from '../../wire/errors/svc-error.ts';
import { estimateTranscript } from '../accounting/transcript-usage.ts';
import type { Caller } from '../dispatch/caller.ts';
import { recordingSize } from '../dispatch/estimate.ts';
import type { Models, ServedModel } from '../dispatch/models.ts';
import { type Inference, type InferenceRequest, inferenceRoute, readJsonBody } from '../dispatch/pipeline.ts';
import { requestedRef } from '../dispatch/requested-model.ts';
import { requireOpenAI, specialModel } from '../dispatch/special-model.ts';
import { filePart, multipartEnd, newBoundary, textPart } from '../http/multipart.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import { relay } from '../relay/relay.ts';
import type { AttemptOptions } from '../relay/relay-request.ts';
import { WholeBodyTransform } from '../relay/whole-body-transform.ts';

/** `POST /audio/transcriptions`: multipart as in OpenAI's API, or JSON with `input_audio`. */
export function transcriptionRoute(deps: Inference): Route {
  return inferenceRoute(deps, {
    path: '/audio/transcriptions',
    read: (context, caller) => {
      const isForm = /^multipart\/form-data\b/i.test(context.header('content-type') ?? '');
      return isForm ? readForm(deps, context, caller) : readJson(deps, context, caller);
    },
  });
}

async function readJson(
  deps: Inference,
  context: RequestContext,
  caller: Caller,
): Promise<InferenceRequest<ServedModel>> {
  const { value } = await readJsonBody(deps, context);
  return {
    ...commonSteps(deps, caller, () => requestedRef(value)),
    repeatable: true,
    check: (model) => {
      requireOpenAI(model);
      inputAudio(value);
    },
    send: ({ model }, credential, attempt) => {
      const { base64, format } = inputAudio(value);
      const boundary = newBoundary();
      const pieces = formFields(value).map(([name, text]) => textPart(boundary, name, text));
      pieces.push(textPart(boundary, 'model', model.id));
      pieces.push(filePart(boundary, 'file', `audio.${format}`, `audio/${format}`));
      const body = Buffer.concat([...pieces, Buffer.from(base64, 'base64'), multipartEnd(boundary)]);
      const form = { body, boundary, sent: () => body.length };
      return send(deps, context, model, credential?.secret.reveal(), form, attempt);
    },
  };
}

/** The parts of the form are forwarded as they arrive. Only the model's name is replaced. */
async function readForm(
  deps: Inference,
  context: RequestContext,
  caller: Caller,
): Promise<InferenceRequest<ServedModel>> {
  const { FormRelay } = await import('../relay/form-relay.ts');
  const { maxBodyBytes } = deps.settings().gateway;
  const form = new FormRelay(context, maxBodyBytes);
  // A form in chunks may be as long as the gateway takes.
  context.size = recordingSize(Number(context.header('content-length') ?? maxBodyBytes));
  return {
    ...commonSteps(deps, caller, () => form.model()),
    // The file is streamed and can be read only once.
    repeatable: false,
    send: async ({ model }, credential, attempt) => {
      const boundary = newBoundary();
      const body = Readable.from(form.parts(boundary, model.id));
      const sending = { body, boundary, sent: () => form.sent };
      try {
        return await send(deps, context, model, credential?.secret.reveal(), sending, attempt);
      } finally {
        // The source may fail because the client disconnected. That error was reported already.
        body.on('error', () => undefined).destroy();
      }
    },
  };
}

function commonSteps(deps: Models, { organization }: Caller, ref: () => string | Promise<string>) {
  return {
    model: async () => specialModel(deps, await ref(), deps.settings().gateway.transcriptionModels, organization),
    check: requireOpenAI,
  };
}

interface Form {
  readonly body: Buffer | Readable;
  readonly boundary: string;
  /** Bytes that have been sent to the upstream. */
  readonly sent: () => number;
}

async function send(
  deps: Pick<Inference, 'dispatcher'>,
  context: RequestContext,
  model: ServedModel,
  apiKey: string | undefined,
  { body, boundary, sent }: Form,
  attempt: AttemptOptions,
) {
  const byok = apiKey !== undefined;
  const { headers, ...place } = upstreamTarget(model.endpoint, '/audio/transcriptions', undefined, apiKey);
  const target = { ...place, headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` } };
  const transform = new WholeBodyTransform(model.provider, byok);
  const request = { target, model, body, transform, byok, stream: false, anyBody: true, attempt };
  const answer = await relay(deps.dispatcher, context, request);
  return { ...answer, sent: sent(), estimate: estimateTranscript(transform.body, answer.characters, sent()) };
}

function inputAudio(body: JsonObject): { base64: string; format: string } {
  const { data, format } = objectOrEmpty(body.input_audio);
  const base64 = nonEmptyString(data);
  if (base64 === undefined || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) {
    throw invalidRequest('input_audio.data', '`input_audio.data` must be base64.');
  }
  const name = nonEmptyString(format);
  if (name === undefined || !/^[a-z0-9]{1,10}$/.test(name)) {
    throw invalidRequest('input_audio.format', '`input_audio.format` must be a format such as "wav" or "mp3".');
  }
  return { base64, format: name };
}

/** All members except model and file, as form fields. */
function formFields(body: JsonObject): [string, string][] {
  return Object.entries(body).flatMap(([name, value]): [string, string][] => {
    if (name === 'model' || name === 'input_audio' || value === undefined || value === null) return [];
    if (Array.isArray(value)) return value.map((item) => [`${name}[]`, String(item)]);
    return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
  });
}
