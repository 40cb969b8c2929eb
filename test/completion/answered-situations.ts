import { ODD_ANSWERS, type OddAnswer, REPORTED, REPORTED_ANSWERS, SITUATIONS, type Situation } from './situations.ts';

/** A situation with one answer, and the file after it was accepted. */
export interface AnsweredSituation {
  readonly title: string;
  readonly language: string;
  /** The document, with `‸` at the caret. */
  readonly file: string;
  readonly answer: string;
  readonly result: string;
}

interface Parts {
  readonly missing: string;
  /** The rest of the caret's line that is not inserted by the editor. */
  readonly tail: string;
  readonly below: string;
  /** The caret is in a string or comment, where a fence is text. */
  readonly prose: boolean;
}

/** The ways in which a model answers a situation. Each must result in the same file. */
const ANSWERS: readonly (readonly [string, (parts: Parts) => string | undefined])[] = [
  ['exactly', ({ missing }) => missing],
  ['with the rest of the line again', ({ missing, tail }) => (tail === '' ? undefined : missing + tail)],
  ['with the rest of the line and the lines below again', ({ missing, tail, below }) => `${missing}${tail}\n${below}`],
  ['in a fence', ({ missing, prose }) => (prose ? undefined : `\`\`\`\n${missing}\n\`\`\``)],
  ['with a token at the end', ({ missing }) => `${missing}<|endoftext|>`],
];

const IN_TEXT = /comment|string|template literal|docstring|documentation|text|^call$/;

function partsOf({ file, missing, name, language }: Situation): Parts {
  const after = file.slice(file.indexOf('‸') + 1);
  const lineEnd = after.indexOf('\n');
  const below = after
    .slice(lineEnd + 1)
    .split('\n')
    .slice(0, 2)
    .join('\n')
    .trimEnd();
  return { missing, tail: after.slice(0, lineEnd), below, prose: IN_TEXT.test(name) || language === 'yaml' };
}

function answered(situations: readonly Situation[], oddAnswers: readonly OddAnswer[]): readonly AnsweredSituation[] {
  return [
    ...situations.flatMap((item) =>
      ANSWERS.flatMap(([how, answerOf]) => {
        const answer = answerOf(partsOf(item));
        const { language, name, file, missing, autoClosed = '' } = item;
        if (answer === undefined) return [];
        const title = `${language}: ${name}, answered ${how}`;
        return [
          { title, language, answer, file: file.replace('‸', `‸${autoClosed}`), result: file.replace('‸', missing) },
        ];
      }),
    ),
    ...oddAnswers.map(({ language, name, file, answer, result }) => ({
      title: `${language}: odd answer: ${name}`,
      language,
      file,
      answer,
      result,
    })),
  ];
}

export const ANSWERED = answered([...SITUATIONS, ...REPORTED], [...ODD_ANSWERS, ...REPORTED_ANSWERS]);
