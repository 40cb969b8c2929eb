import assert from 'node:assert/strict';
import { structuredPatch } from 'diff';
import * as fc from 'fast-check';
import { patchSchema } from '../../src/chat/history/transcript-schema.ts';
import { renameChange, sameChange, saveEffect, textChange } from '../../src/chat/tools/file-change.ts';

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`).join('\n');

describe('file changes as values', () => {
  it('textChange: counts lines and has the changed lines with their context', () => {
    const { change } = textChange('a.ts', lines(9), lines(9).replace('line 4', 'four\nfour and a half'));
    assert.deepEqual([change.kind, change.added, change.removed], ['edit', 2, 1]);
    assert.deepEqual(change.hunks, [
      {
        oldStart: 2,
        newStart: 2,
        lines: [
          ...[' line 1', ' line 2', ' line 3', '-line 4', '+four', '+four and a half', ' line 5', ' line 6', ' line 7'],
        ],
      },
    ]);
  });

  it('textChange: its hunks are those of the library for the same texts', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', '', '1', '\\ No newline', '+'), { maxLength: 20 });
    fc.assert(
      fc.property(lines, lines, (one, other) => {
        const [before, after] = [one.join('\n'), other.join('\n')];
        const { hunks } = structuredPatch('', '', before, after, undefined, undefined, { context: 3 });
        assert.deepEqual(
          textChange('a', before, after).change.hunks,
          hunks.map(({ oldStart, newStart, lines }) => ({ oldStart, newStart, lines })),
        );
      }),
    );
  });

  it('textChange: line ends of Windows are not part of the lines', () => {
    const { change } = textChange('a.ts', 'one\r\ntwo\r\n', 'one\r\nTWO\r\n');
    assert.deepEqual(change.hunks[0]?.lines, [' one', '-two', '+TWO']);
  });

  it('textChange: a new file is a creation, a missing text a deletion', () => {
    assert.deepEqual(
      [textChange('a', undefined, 'x\ny\n'), textChange('a', 'x\ny\n', undefined)].map(({ change }) => [
        ...[change.kind, change.added, change.removed],
      ]),
      [
        ['create', 2, 0],
        ['delete', 0, 2],
      ],
    );
  });

  it('textChange: lines beyond the limit are counted, not stored', () => {
    const { change } = textChange('a', undefined, lines(10_000));
    const stored = change.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
    assert.equal(change.added, 10_000);
    assert.equal(stored + (change.hidden ?? 0), 10_000);
    assert.ok(stored <= 3000);
  });

  it('sameChange: line numbers do not matter, lines do', () => {
    const edit = (before: string) => textChange('a', before, before.replace('old', 'new')).change;
    assert.equal(sameChange(edit('old\n'), edit('a\nb\nold\n')), true);
    assert.equal(sameChange(edit('old\n'), edit('very old\n')), false);
    assert.equal(sameChange(renameChange('a', 'b').change, renameChange('a', 'c').change), false);
  });

  it('history: a patch with the changes of a call is read as written', () => {
    const changes = [textChange('a.ts', 'one', 'two').change, renameChange('b', 'c').change];
    const patch = { type: 'action', message: 'm', part: 2, action: { type: 'changes', changes } };
    assert.deepEqual(patchSchema.parse(JSON.parse(JSON.stringify(patch))), patch);
  });

  it('saveEffect: has the change with the lines that the editor changed, and the text for the model', () => {
    const change = textChange('a.ts', 'one\ntwo  \n', 'ONE\ntwo  \n');
    const effect = saveEffect(change, 'ONE\r\ntwo\r\n', true);
    const made = effect?.made.change;
    assert.deepEqual([made?.added, made?.removed, made?.formatted], [2, 2, 1]);
    assert.equal(
      effect?.note,
      'When it saved a.ts, the editor (a formatter or a setting) changed 1 more line:\n@@ line 1\n ONE\n-two  \n+two',
    );
    assert.doesNotMatch(saveEffect(change, 'ONE\ntwo\n', false)?.note ?? '', /two/);
    assert.equal(saveEffect(change, 'ONE\r\ntwo  \r\n', true), undefined);
  });

  it('saveEffect: a long difference is cut in the text for the model', () => {
    const effect = saveEffect(textChange('a.ts', 'x\n', lines(500)), `${lines(500).replaceAll('line', 'row')}\n`, true);
    assert.match(effect?.note ?? '', /changed 500 more lines:\n/);
    assert.match(effect?.note ?? '', /\n… Read the file again\.$/);
    assert.ok((effect?.note.split('\n').length ?? 0) < 70);
  });
});
