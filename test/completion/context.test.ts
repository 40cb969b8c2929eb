import assert from 'node:assert/strict';
import type { DocumentText } from '../../src/completion/document/document-text.ts';
import { SimilarSnippets } from '../../src/completion/prompt/context.ts';

interface TestDocument extends DocumentText {
  read: number;
}

function testDocument(name: string, lines: readonly string[], version = 1): TestDocument {
  const document: TestDocument = {
    uri: `file:///w/${name}`,
    path: name,
    languageId: 'typescript',
    version,
    eol: '\n',
    lineCount: lines.length,
    read: 0,
    lineAt: (line) => {
      document.read += 1;
      return lines[line] ?? '';
    },
  };
  return document;
}

const filler = (count: number) => Array.from({ length: count }, (_, at) => `const filler${at} = nothing${at};`);

describe('SimilarSnippets', () => {
  const near = 'const price = basket.total() + shipping';

  it('SimilarSnippets: returns the window of 24 lines with most common words', () => {
    const document = testDocument('basket.ts', [
      ...filler(30),
      'export const shipping = basket.total();',
      ...filler(40),
    ]);
    const [found] = new SimilarSnippets(8).find([document], near);
    assert.equal(found?.line, 24);
    assert.match(found?.text ?? '', /shipping = basket\.total/);
    assert.equal(found?.document, document);
  });

  it('SimilarSnippets: returns nothing without a common word', () => {
    assert.deepEqual(new SimilarSnippets(8).find([testDocument('other.ts', ['while (true) return;'])], near), []);
    assert.deepEqual(new SimilarSnippets(8).find([testDocument('other.ts', ['basket'])], ''), []);
  });

  it('SimilarSnippets: does not read an unchanged file again', () => {
    const alike = new SimilarSnippets(8);
    const document = testDocument('basket.ts', ['basket shipping']);
    const first = alike.find([document], near);
    assert.equal(document.read, 1);
    assert.deepEqual(alike.find([document], near), first);
    assert.equal(document.read, 1);
    const [changed] = alike.find([testDocument('basket.ts', ['basket total price'], 2)], near);
    assert.equal(changed?.text, 'basket total price');
  });

  it('SimilarSnippets: reads only the start of a huge or wide file, and caches few files', () => {
    const alike = new SimilarSnippets(2);
    const wide = testDocument(
      'wide.ts',
      Array.from({ length: 5_000 }, () => `${'x '.repeat(50_000)}`),
    );
    alike.find([wide], near);
    assert.ok(wide.read <= 400, `${wide.read} lines`);
    const documents = ['a', 'b', 'c'].map((name) => testDocument(name, ['basket']));
    alike.find(documents, near);
    alike.find(documents.slice(1), near);
    assert.deepEqual(
      documents.map(({ read }) => read),
      [1, 1, 1],
    );
    alike.find(documents.slice(0, 1), near);
    assert.equal(documents[0]?.read, 2);
  });
});
