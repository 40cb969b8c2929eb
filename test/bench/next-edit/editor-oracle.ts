import { parseInceptionEdit } from '../../../src/wire/edit/inception-edit.ts';
import { startUpstream, type Upstream } from '../../upstream/upstream.ts';
import { rewriteRegion } from './region.ts';
import { hunksBetween } from './scripts.ts';

/** The simulated model behind VS Code. */
export interface EditorOracle {
  readonly upstream: Upstream;
  /** The later version of the file that is edited. */
  target: string;
  /** Share of wrong answers in percent. */
  errors: number;
  requests: number;
  tokens: number;
  /** The last answer was a mistake, and nothing was typed or rejected since. */
  wrong: boolean;
}

const LATENCY_MS = 300;
const CHARACTERS_PER_TOKEN = 4;

/** Answers `POST /v1/edit/completions` in Inception's format. Files must be small enough to be sent whole. */
export async function startEditorOracle(): Promise<EditorOracle> {
  const upstream = await startUpstream(({ method, body }, response) => {
    if (method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const [sent] = Array.isArray(body.messages) ? body.messages : [];
    const prompt = String(sent?.content ?? '');
    const content = answerTo(prompt);
    oracle.requests += 1;
    oracle.tokens += Math.ceil((prompt.length + content.length) / CHARACTERS_PER_TOKEN);
    setTimeout(() => {
      if (response.destroyed) return;
      response.writeHead(200, { 'content-type': 'application/json' });
      const message = { role: 'assistant', content };
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    }, LATENCY_MS);
  });
  const oracle: EditorOracle = { upstream, target: '', errors: 0, requests: 0, tokens: 0, wrong: false };
  const answerTo = (prompt: string): string => {
    const { before, region, after, cursor, startLine } = parseInceptionEdit(prompt);
    const remaining = hunksBetween(before + region + after, withBreak(oracle.target));
    const lines = region.replace(/\n$/, '').split('\n');
    const { text, wrong } = rewriteRegion({ lines, first: startLine - 1, cursor }, remaining, oracle.errors);
    oracle.wrong = wrong;
    return text === lines.join('\n') ? 'None' : `${text}\n`;
  };
  return oracle;
}

/** The format ends a file with a line break. */
function withBreak(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
