/** Deterministic, so that two runs stream the same. */
function* numbers(): Generator<number> {
  for (let state = 7; ; state = (state * 1_103_515_245 + 12_345) % 2 ** 31) yield state;
}

const WORDS =
  'the request reads a value from each item of the list and returns what the caller needs without another copy'.split(
    ' ',
  );

/** An answer of 2,000 lines: headings, paragraphs, lists, tables and fences. */
export function longAnswer(lines = 2000): string {
  const random = numbers();
  const next = (below: number) => (random.next().value ?? 0) % below;
  const sentence = (length: number) => Array.from({ length }, () => WORDS[next(WORDS.length)]).join(' ');
  const out: string[] = [];
  while (out.length < lines) {
    out.push(`## ${sentence(4)}`, '', `${sentence(22)} **${sentence(2)}** \`${sentence(1)}\`.`, '');
    for (let item = 0; item < 6; item++) out.push(`- ${sentence(10)}`);
    out.push('', '| name | value |', '|---|---:|');
    for (let row = 0; row < 4; row++) out.push(`| ${sentence(2)} | ${next(1000)} |`);
    out.push('', '```ts');
    for (let line = 0; line < 28; line++)
      out.push(`  const ${WORDS[next(20)]}${line} = read(${next(100)}, "${sentence(3)}");`);
    out.push('```', '');
  }
  return `${out.slice(0, lines).join('\n')}\n`;
}

/** One fence of 2,000 lines. */
export function longFence(lines = 2000): string {
  const random = numbers();
  const next = (below: number) => (random.next().value ?? 0) % below;
  const code = Array.from({ length: lines }, (_, line) => {
    return `  export const value${line} = compute(${next(1000)}, { name: "${WORDS[next(20)]}", flag: ${next(2) === 1} });`;
  });
  return `\`\`\`ts\n${code.join('\n')}\n\`\`\`\n`;
}

/** 200 messages of a user and a model. */
export function conversation(messages = 400): readonly string[] {
  const answer = longAnswer(30);
  return Array.from({ length: messages }, (_, index) => (index % 2 ? answer : `Question number ${index}?`));
}
