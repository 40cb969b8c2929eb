import { SAMPLE_ANSWER } from './sample-answers.ts';

const WHO = '*Simulated provider: no model read your question.';

/** A Markdown answer that says that no model made it. */
export function chatAnswer(question: string): string {
  if (/basketTotal/i.test(question)) {
    return `${SAMPLE_ANSWER}\n\n${WHO} This answer about the sample was written beforehand.*\n`;
  }
  return [
    `${WHO} It answers only what the README of the sample asks.*`,
    '',
    ...question
      .trim()
      .split('\n')
      .slice(0, 6)
      .map((line) => `> ${line}`),
    '',
    'For real answers:',
    '',
    '- set a provider key, such as `MISTRAL_API_KEY`, or',
    '- start Ollama, llama.cpp, LM Studio or vLLM on this machine,',
    '',
    'and start again.',
    '',
  ].join('\n');
}
