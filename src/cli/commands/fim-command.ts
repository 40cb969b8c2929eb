import { parseArgs } from 'node:util';
import { defined } from '../../base/json.ts';
import { computePrice } from '../../catalog/price.ts';
import { CompletionTrimmer } from '../../completion/answer/completion-trimmer.ts';
import { DEFAULT_COMPLETION_SETTINGS } from '../../completion/document/completion-settings.ts';
import type { DocumentText, Position } from '../../completion/document/document-text.ts';
import { buildPrompt } from '../../completion/prompt/prompt-builder.ts';
import { SecretRestorer } from '../../completion/prompt/redact.ts';
import { completeCode } from '../../provider/complete-code.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Usage } from '../../wire/event.ts';
import { parsePlace, promptPath, readCode, refuseExcluded, requireInside, withInputLast } from '../input/code-place.ts';
import { languageOfFile } from '../input/file-language.ts';
import { type CliModelChoice, chooseModel } from '../input/model-choice.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';
import { usageJson } from '../output/output.ts';

interface Completed {
  readonly text: string;
  readonly usage?: Usage;
  readonly error?: SvcError;
}

/** `svc fim FILE:LINE:COL`: prints the completion that the editor would show at this position. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: withInputLast(args),
    options: OPTIONS.fim,
    allowPositionals: true,
  });
  const place = parsePlace(positionals, 'fim');
  const maxLines = parseLines(values['max-lines']);
  await refuseExcluded(place.file, io.cwd);
  const code = await readCode(place.file, io);
  requireInside(code.split(/\r\n|\r|\n/), place);
  const document = createDocument(place.file, code, values.language, io.cwd);
  const chosen = await chooseModel(io, 'completion', values.model);
  try {
    const answer = await complete(chosen, document, place.position, maxLines, io);
    if (values.json) await io.out(`${JSON.stringify(completionJson(chosen, answer), null, 2)}\n`);
    else if (answer.text !== '') await io.out(`${answer.text}\n`);
    if (answer.error !== undefined && !values.json) throw withKeyNote(answer.error, chosen);
    return answer.error === undefined ? 0 : 1;
  } finally {
    await chosen.transport.dispatcher.destroy();
  }
}

/** A provider refused a request without a key: the key may be in a store that only VS Code can read. */
function withKeyNote(error: SvcError, { keyNote }: CliModelChoice): SvcError {
  if (error.errorType !== 'authentication_required' || keyNote === undefined) return error;
  return error.with({ action: keyNote });
}

async function complete(
  { model, transport }: CliModelChoice,
  document: DocumentText,
  position: Position,
  maxLines: number,
  io: Io,
): Promise<Completed> {
  const { ref, limit } = model;
  const question = buildPrompt(document, position, [], { model: { ref, contextTokens: limit.context }, maxLines });
  if (question === undefined) throw new Error('The text at this position looks like a secret. Nothing was sent.');
  const settling = new CompletionTrimmer(question.site);
  const restoring = new SecretRestorer(question.secrets);
  const stop = new AbortController();
  const signal = AbortSignal.any([io.signal, stop.signal]);
  let usage: Usage | undefined;
  let error: SvcError | undefined;
  let whole = false;
  for await (const event of completeCode(model, question.fimRequest, { transport, signal })) {
    if (event.type === 'text') settling.push(restoring.push(event.text));
    else if (event.type === 'usage') usage = event.usage;
    else if (event.type === 'error') error = event.error;
    else if (event.type === 'finish') whole = event.reason === 'stop';
    if (settling.enough) break;
  }
  stop.abort();
  io.signal.throwIfAborted();
  settling.push(restoring.end());
  settling.end(whole);
  const { text } = settling;
  return { text, ...defined({ usage, error }) };
}

function completionJson({ model }: CliModelChoice, { text, usage, error }: Completed) {
  return {
    model: model.ref,
    text,
    usage: usage === undefined ? null : usageJson(usage),
    cost: (usage && model.cost && computePrice(model.cost, usage)) ?? null,
    error: error === undefined ? null : { error_type: error.errorType, message: error.message },
  };
}

function parseLines(text: string | undefined): number {
  if (text === undefined) return DEFAULT_COMPLETION_SETTINGS.maxLines;
  const lines = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (lines < 1) throw new UsageError(`--max-lines takes a number from 1 to 999, not ${JSON.stringify(text)}.`);
  return lines;
}

function createDocument(file: string, text: string, language: string | undefined, cwd: string): DocumentText {
  const lines = text.split(/\r\n|\r|\n/);
  const named = promptPath(file, cwd);
  return {
    uri: `file:///${encodeURI(file)}`,
    ...defined({ path: named }),
    languageId: language ?? languageOfFile(file),
    version: 1,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    lineCount: lines.length,
    lineAt: (line) => lines[line] ?? '',
  };
}
