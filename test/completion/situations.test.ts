import assert from 'node:assert/strict';
import { ANSWERED } from './answered-situations.ts';
import { EditorHarness } from './editor-harness.ts';

/** Accepts the answer, received in so many pieces, and returns the file. */
async function resultOf(language: string, file: string, answer: string, pieces: number): Promise<string> {
  const editor = new EditorHarness('');
  const [before = '', after = ''] = file.split('‸');
  Object.assign(editor.file, { before, after, languageId: language });
  editor.settings = { ...editor.settings, languages: { '*': true } };
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

describe('completion: the file after an answer was accepted', () => {
  for (const { title, language, file, answer, result } of ANSWERED) {
    it(title, async () => {
      for (const pieces of [1, 4, answer.length]) assert.equal(await resultOf(language, file, answer, pieces), result);
    });
  }
});
