import assert from 'node:assert/strict';
import { EditorHarness } from './editor-harness.ts';
import { ODD_ANSWERS, SITUATIONS, type Situation } from './situations.ts';

/** The ways in which a model answers a situation. Each must result in the same file. */
const ANSWERS: readonly (readonly [string, (parts: Parts) => string | undefined])[] = [
  ['exactly', ({ missing }) => missing],
  ['with the rest of the line again', ({ missing, tail }) => (tail === '' ? undefined : missing + tail)],
  ['with the rest of the line and the lines below again', ({ missing, tail, below }) => `${missing}${tail}\n${below}`],
  ['in a fence', ({ missing, prose }) => (prose ? undefined : `\`\`\`\n${missing}\n\`\`\``)],
  ['with a token at the end', ({ missing }) => `${missing}<|endoftext|>`],
];

interface Parts {
  readonly missing: string;
  /** The rest of the caret's line that is not inserted by the editor. */
  readonly tail: string;
  readonly below: string;
  /** The caret is in a string or comment, where a fence is text. */
  readonly prose: boolean;
}

const IN_TEXT = /comment|string|template literal|docstring|documentation|text|^call$/;

async function resultOf(language: string, file: string, answer: string, pieces: number): Promise<string> {
  const editor = new EditorHarness('');
  const [before = '', after = ''] = file.split('‸');
  Object.assign(editor.file, { before, after });
  editor.file.languageId = language;
  editor.settings = { ...editor.settings, languages: { ...editor.settings.languages, markdown: true } };
  editor.answers = () => split(answer, pieces);
  editor.requestSuggestion({ trigger: 'invoke' });
  await editor.clock.pass(60_000);
  editor.accept();
  return editor.file.before + editor.file.after;
}

function split(text: string, pieces: number): readonly string[] {
  const size = Math.max(1, Math.ceil(text.length / pieces));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

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

describe('completion: the file after an answer was accepted', () => {
  for (const item of SITUATIONS) {
    const expected = item.file.replace('‸', item.missing);
    for (const [how, answerOf] of ANSWERS) {
      const answer = answerOf(partsOf(item));
      if (answer === undefined) continue;
      it(`${item.language}: ${item.name}, answered ${how}`, async () => {
        const file = item.file.replace('‸', `‸${item.autoClosed ?? ''}`);
        assert.equal(await resultOf(item.language, file, answer, 3), expected);
      });
    }
  }

  for (const { language, name, file, answer, result } of ODD_ANSWERS) {
    it(`${language}: odd answer: ${name}`, async () => {
      for (const pieces of [1, 4, answer.length]) assert.equal(await resultOf(language, file, answer, pieces), result);
    });
  }
});
