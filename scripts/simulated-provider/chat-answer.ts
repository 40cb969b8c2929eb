/** A Markdown answer about what was asked, made by a program and saying so. */
export function chatAnswer(question: string): string {
  const asked = question.trim().split('\n').slice(0, 6);
  const code = /```(\w*)\n([\s\S]*?)```/.exec(question);
  const words = [...new Set(question.toLowerCase().match(/[a-z][a-z_]{3,}/g) ?? [])].slice(0, 5);
  return [
    '**This is the simulated provider.** No model read your question; a small program in this repository wrote this answer so that you can see the panel at work.',
    '',
    'You asked:',
    '',
    ...asked.map((line) => `> ${line}`),
    '',
    ...(words.length > 0 ? ['Words that I noticed:', '', ...words.map((word) => `- \`${word}\``), ''] : []),
    ...(code ? [`Your code has ${(code[2] ?? '').trimEnd().split('\n').length} lines.`, ''] : []),
    'A code block looks like this:',
    '',
    '```typescript',
    'export function greet(name: string): string {',
    '  return `Hello, ${name}!`;',
    '}',
    '```',
    '',
    '| What | Where |',
    '|---|---|',
    '| Real answers | set a provider key, such as `MISTRAL_API_KEY`, and start again |',
    '| A local model | start Ollama, llama.cpp, LM Studio or vLLM, and start again |',
    '',
  ].join('\n');
}
