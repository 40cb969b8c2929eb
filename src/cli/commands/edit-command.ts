import path from 'node:path';
import { parseArgs } from 'node:util';
import { createTwoFilesPatch } from 'diff';
import { runGit } from '../../base/run-git.ts';
import { computePrice } from '../../catalog/price.ts';
import { codeAround } from '../../completion/next-edit/model/edit-region.ts';
import { maskRequest } from '../../completion/next-edit/model/mask-request.ts';
import { insideSecret, SecretRestorer } from '../../completion/prompt/redact.ts';
import { predictEdit } from '../../provider/predict-edit.ts';
import { readEditAnswer } from '../../wire/edit/edit-dialect.ts';
import type { EditDialect, EditRequest } from '../../wire/edit/edit-request.ts';
import { parseDiff } from '../../wire/edit/inception-edit.ts';
import type { Usage } from '../../wire/event.ts';
import { answerText, foldStream } from '../../wire/fold.ts';
import {
  type FilePlace,
  parsePlace,
  promptPath,
  readCode,
  refuseExcluded,
  requireInside,
  withInputLast,
} from '../input/code-place.ts';
import { EditedFile } from '../input/edited-file.ts';
import { type CliModelChoice, chooseModel } from '../input/model-choice.ts';
import { replaceLines } from '../input/replace-lines.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';
import { usageJson } from '../output/output.ts';

const MAX_TOKENS = 1024;

/** `svc edit FILE:LINE:COL`: prints the next edit as a diff. The uncommitted changes of the file are the recent edits. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: withInputLast(args),
    options: OPTIONS.edit,
    allowPositionals: true,
  });
  const place = parsePlace(positionals, 'edit');
  if (values.apply && place.file === '-')
    throw new UsageError('--apply needs a file: standard input can’t be changed.');
  await refuseExcluded(place.file, io.cwd);
  const code = await readCode(place.file, io);
  const edited = values.apply ? await EditedFile.open(path.resolve(io.cwd, place.file), place.file) : undefined;
  requireInside(code.split(/\r\n|\r|\n/), place);
  const chosen = await chooseModel(io, 'edit', values.model);
  try {
    const request = editRequest(code, place, chosen.model.edit, await recentEdits(place.file, io), io.cwd);
    const { region, usage } = await predict(chosen, request, io);
    const after = region === undefined ? undefined : replaceRegion(code, request, region);
    if (values.json) await io.out(`${JSON.stringify(editJson(chosen, after, usage), null, 2)}\n`);
    else if (after === undefined) await io.err('The model proposes no edit.\n');
    else
      await io.out(createTwoFilesPatch(`a/${request.path}`, `b/${request.path}`, code, after, '', '', { context: 3 }));
    if (after !== undefined) await edited?.write(after);
    return 0;
  } finally {
    await chosen.transport.dispatcher.destroy();
  }
}

/** @throws UsageError if the cursor is in a secret: the model would be asked to complete it. */
function editRequest(
  code: string,
  { file, position }: FilePlace,
  dialect: EditDialect | undefined,
  edits: EditRequest['edits'],
  cwd: string,
): EditRequest {
  const lines = code.replace(/\r\n?/g, '\n').split('\n');
  const around = codeAround({ lineCount: lines.length, lineAt: (line) => lines[line] ?? '' }, position, dialect);
  if (around === undefined) throw new UsageError('The lines at this position are too long. Nothing was sent.');
  const { code: asked } = around;
  if (insideSecret(asked.region, asked.cursor))
    throw new UsageError('The text at this position looks like a secret. Nothing was sent.');
  return { ...asked, path: promptPath(file, cwd) ?? 'untitled', edits, snippets: [] };
}

/** The uncommitted changes of a file. None without Git, outside a repository, and for a new file. */
async function recentEdits(file: string, io: Io): Promise<EditRequest['edits']> {
  if (file === '-') return [];
  const absolute = path.resolve(io.cwd, file);
  try {
    const args = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '-U2', 'HEAD', '--', absolute];
    const options = { cwd: path.dirname(absolute), signal: io.signal, maxBuffer: 1024 * 1024, timeout: 5000 };
    const stdout = await runGit(args, options);
    return parseDiff(stdout.replaceAll('\r\n', '\n')).slice(-6);
  } catch {
    return [];
  }
}

async function predict(
  { model, transport }: CliModelChoice,
  request: EditRequest,
  io: Io,
): Promise<{ readonly region: string | undefined; readonly usage: Usage | undefined }> {
  const dialect = model.edit ?? 'chat-patch';
  const secrets = new Map<string, string>();
  const masked = maskRequest(request, secrets);
  const restoring = new SecretRestorer(secrets);
  const { signal } = io;
  const answer = await foldStream(predictEdit(model, dialect, masked, { transport, signal, maxTokens: MAX_TOKENS }));
  if (answer.error) throw answer.error;
  signal.throwIfAborted();
  const region = answer.finish === 'stop' ? readEditAnswer(dialect, masked, answerText(answer)) : undefined;
  const restored = region === undefined ? undefined : restoring.push(region) + restoring.end();
  return { region: restored, usage: answer.usage };
}

/** The whole file after the edit, with its own line breaks. */
function replaceRegion(code: string, { region, startLine }: EditRequest, rewritten: string): string {
  const ends = region.endsWith('\n');
  const count = region.split('\n').length - (ends ? 1 : 0);
  const replacement = ends && rewritten !== '' && !rewritten.endsWith('\n') ? `${rewritten}\n` : rewritten;
  return replaceLines(code, startLine - 1, count, replacement);
}

function editJson({ model }: CliModelChoice, after: string | undefined, usage: Usage | undefined) {
  return {
    model: model.ref,
    text: after ?? null,
    usage: usage === undefined ? null : usageJson(usage),
    cost: (usage && model.cost && computePrice(model.cost, usage)) ?? null,
  };
}
