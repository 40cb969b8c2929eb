import assert from 'node:assert/strict';
import type { DocumentText } from '../../src/completion/document/document-text.ts';
import { SimilarSnippets } from '../../src/completion/prompt/context.ts';

interface Paper extends DocumentText {
  read: number;
}

function paper(name: string, lines: readonly string[], version = 1): Paper {
  const document: Paper = {
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

describe('the piece of another file that is most like this place', () => {
  const near = 'const price = basket.total() + shipping';

  it('is the window of 24 lines with most words in common', () => {
    const document = paper('basket.ts', [...filler(30), 'export const shipping = basket.total();', ...filler(40)]);
    const [found] = new SimilarSnippets(8).find([document], near);
    assert.equal(found?.line, 24);
    assert.match(found?.text ?? '', /shipping = basket\.total/);
    assert.equal(found?.document, document);
  });

  it('is none where no word is the same', () => {
    assert.deepEqual(new SimilarSnippets(8).find([paper('other.ts', ['while (true) return;'])], near), []);
    assert.deepEqual(new SimilarSnippets(8).find([paper('other.ts', ['basket'])], ''), []);
  });

  it('is looked for without reading a file again that has not changed', () => {
    const alike = new SimilarSnippets(8);
    const document = paper('basket.ts', ['basket shipping']);
    const first = alike.find([document], near);
    assert.equal(document.read, 1);
    assert.deepEqual(alike.find([document], near), first);
    assert.equal(document.read, 1);
    const [changed] = alike.find([paper('basket.ts', ['basket total price'], 2)], near);
    assert.equal(changed?.text, 'basket total price');
  });

  it('is looked for in a start of a file that is huge or wide, and few files are remembered', () => {
    const alike = new SimilarSnippets(2);
    const wide = paper(
      'wide.ts',
      Array.from({ length: 5_000 }, () => `${'x '.repeat(50_000)}`),
    );
    alike.find([wide], near);
    assert.ok(wide.read <= 400, `${wide.read} lines`);
    const papers = ['a', 'b', 'c'].map((name) => paper(name, ['basket']));
    alike.find(papers, near);
    alike.find(papers.slice(1), near);
    assert.deepEqual(
      papers.map(({ read }) => read),
      [1, 1, 1],
    );
    alike.find(papers.slice(0, 1), near);
    assert.equal(papers[0]?.read, 2);
  });
});
