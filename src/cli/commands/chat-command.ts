import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { onAbort } from '../../base/concurrency.ts';
import { nearMisses } from '../../base/near-miss.ts';
import { ChatSession } from '../../chat/session/session.ts';
import { type Message, messageText } from '../../chat/transcript.ts';
import { converse } from '../../provider/converse.ts';
import { ServedWindows, servedModel } from '../../provider/served-window.ts';
import { type CliModelChoice, chooseModel } from '../input/model-choice.ts';
import { isTyped, readPiped } from '../input/standard-input.ts';
import { type Io, stoppedCode, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';
import { AnswerPrinter } from '../output/answer-printer.ts';
import { usageJson } from '../output/output.ts';

/** `svc chat`: one prompt and its answer, or a conversation if there is neither a prompt nor piped input. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS.chat, allowPositionals: true });
  const typed = isTyped(io.input);
  const words = positionals.join(' ');
  if (words === '' && typed && values.json) throw new UsageError('--json needs a prompt.');
  const chosen = await chooseModel(io, 'chat', values.model);
  try {
    checkVariant(chosen, values.variant);
    const options = { system: values.system, variant: values.variant };
    if (words === '' && typed) return await converseWith(chosen, options, io);
    const session = sessionWith(() => chosen, options);
    const text = [words, typed ? '' : (await readPiped(io)).trimEnd()].filter((part) => part !== '').join('\n\n');
    if (text === '') throw new UsageError('The prompt is empty. Add a prompt or pipe one in.');
    return await (values.json ? askForJson(session, text, io) : ask(session, text, chosen, io));
  } finally {
    await chosen.transport.dispatcher.destroy();
  }
}

/** @throws UsageError for a variant that the model does not have. */
function checkVariant({ model }: CliModelChoice, variant: string | undefined): void {
  if (variant === undefined || model.variants.has(variant)) return;
  const known = [...model.variants.keys()];
  const suggestion = nearMisses(variant, known)[0];
  const others = known.length === 0 ? 'It has none.' : `It has ${known.join(', ')}.`;
  throw new UsageError(
    `${model.ref} has no variant ${JSON.stringify(variant)}. ${suggestion === undefined ? others : `Did you mean ${suggestion}?`}`,
  );
}

interface SessionOptions {
  readonly system: string | undefined;
  readonly variant: string | undefined;
}

/** @param choice the model of the next message. */
function sessionWith(choice: () => CliModelChoice, { system, variant }: SessionOptions): ChatSession {
  const { transport, outputCap } = choice();
  const served = servedModel(new ServedWindows(transport));
  return new ChatSession({
    converse: (to, conversation, signal, choices) =>
      converse(to, conversation, { transport, signal, outputCap, served, ...choices }),
    model: () => {
      const { model, simulated } = choice();
      const { ref, name, provider } = model;
      const chosen = variant !== undefined && model.variants.has(variant) ? { variant } : {};
      return { model, label: { ref, name, provider, simulated, ...chosen } };
    },
    newId: randomUUID,
    now: Date.now,
    outputCap,
    ...(system === undefined ? {} : { instructions: () => system }),
  });
}

async function ask(session: ChatSession, text: string, chosen: CliModelChoice, io: Io): Promise<number> {
  const printer = new AnswerPrinter(io, session);
  await send(session, text, io.signal);
  const answer = session.messages.at(-1);
  const code = await printer.end(answer);
  await explainMissingKey(answer, chosen, io);
  return code;
}

/** A provider refused a request without a key: the key may be in a store that only VS Code can read. */
async function explainMissingKey(answer: Message | undefined, { keyNote }: CliModelChoice, io: Io): Promise<void> {
  const { ending } = answer ?? {};
  if (ending?.type !== 'failed' || ending.error.errorType !== 'authentication_required') return;
  if (keyNote !== undefined) await io.err(`${keyNote}\n`);
}

/**
 * Prints one object: `model`, `text`, `reasoning`, `finish_reason`, `usage`, `cost`, `error`. Unknown values are null.
 */
async function askForJson(session: ChatSession, text: string, io: Io): Promise<number> {
  await send(session, text, io.signal);
  const answer = session.messages.at(-1);
  if (answer?.ending?.type === 'stopped') return stoppedCode(io.signal);
  await io.out(`${JSON.stringify(answer && answerJson(answer), null, 2)}\n`);
  return answer?.ending?.type === 'finished' ? 0 : 1;
}

function answerJson(answer: Message) {
  const { ending, usage } = answer;
  const reasoning = answer.parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('\n\n');
  return {
    model: answer.model?.ref ?? null,
    text: messageText(answer),
    reasoning: reasoning === '' ? null : reasoning,
    finish_reason: ending?.type === 'finished' ? ending.reason : null,
    usage: usage === undefined ? null : usageJson(usage),
    cost: answer.price ?? null,
    error: ending?.type === 'failed' ? { error_type: ending.error.errorType, message: ending.error.message } : null,
  };
}

async function send(session: ChatSession, text: string, signal: AbortSignal): Promise<void> {
  const remove = onAbort(signal, () => session.stop());
  await session.send({ text });
  remove();
}

const HELP = `/model [PROVIDER/MODEL]  show or change the model
/clear                   start a new conversation
/help                    show this list
A line that ends with \\ continues on the next line. Ctrl-C stops an answer, Ctrl-D exits.
`;

/**
 * Each line is a message or a command. A line that ends with a backslash continues on the next line. Ctrl-C stops an
 * answer, Ctrl-D exits.
 */
async function converseWith(first: CliModelChoice, options: SessionOptions, io: Io): Promise<number> {
  let chosen = first;
  let session = sessionWith(() => chosen, options);
  let printer = new AnswerPrinter(io, session);
  await io.err(`${describeModel(chosen)}: each line is a message, Ctrl-D exits, /help lists the commands.\n`);
  const lines = createInterface({ input: io.input, output: writableTo(io), terminal: true, prompt: '> ' });
  lines.on('SIGINT', () => (session.running ? session.stop() : lines.close()));
  onAbort(io.signal, () => lines.close());
  const runCommand = async (line: string): Promise<void> => {
    const [command, ...rest] = line.trim().split(/\s+/);
    if (command === '/help') await io.err(HELP);
    else if (command === '/clear') {
      session = sessionWith(() => chosen, options);
      printer = new AnswerPrinter(io, session);
      await io.err('New conversation.\n');
    } else if (command === '/model') {
      const [ref] = rest;
      if (ref !== undefined) chosen = await changeModel(chosen, ref, io);
      await io.err(`Model: ${describeModel(chosen)}\n`);
    } else await io.err(`Unknown command ${command}. /help lists the commands.\n`);
  };
  let message = '';
  lines.prompt();
  for await (const line of lines) {
    message += line;
    if (message.endsWith('\\')) {
      message = `${message.slice(0, -1)}\n`;
      lines.setPrompt('… ');
    } else {
      if (/^\/[a-z]+(\s|$)/.test(message)) await runCommand(message);
      else if (message.trim() !== '') {
        await session.send({ text: message });
        const answer = session.messages.at(-1);
        await printer.end(answer);
        await explainMissingKey(answer, chosen, io);
        if (answer?.ending?.type === 'stopped') await io.err('(stopped)\n');
      }
      message = '';
      lines.setPrompt('> ');
    }
    lines.prompt();
  }
  await io.out('\n');
  return 0;
}

function describeModel({ model, simulated }: CliModelChoice): string {
  return `${model.ref}${simulated ? ' (simulated)' : ''}`;
}

/** The model for the next messages, or the same one if the other does not exist. */
async function changeModel(chosen: CliModelChoice, ref: string, io: Io): Promise<CliModelChoice> {
  try {
    const next = await chooseModel(io, 'chat', ref);
    await next.transport.dispatcher.destroy();
    return { ...next, transport: chosen.transport };
  } catch (thrown) {
    await io.err(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    return chosen;
  }
}

function writableTo(io: Io): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk, _, done) => {
      (io.draw ?? io.out)(String(chunk)).then(() => done(), done);
    },
  });
}
