import assert from 'node:assert/strict';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { bridgeTools } from '../../src/wire/tools/tool-bridge.ts';
import { CONTEXT } from './format-pairs.ts';
import { LOSSES, type Loss } from './losses.ts';
import { CONTENT } from './lossy-content.ts';
import { FIELDS } from './lossy-fields.ts';
import type { Shown } from './lossy-values.ts';

const ROWS: Readonly<Record<string, readonly Shown[]>> = { ...FIELDS, ...CONTENT };

/** A request or an answer of one format, converted to another. */
function carried({ from, answer }: Shown, body: Readonly<Record<string, unknown>>, to: FormatName) {
  if (answer) return FORMATS[to].writeAnswer(CONTEXT, FORMATS[from].readAnswer(body));
  const request = FORMATS[from].readRequest({ model: 'm', ...body });
  return FORMATS[to].writeRequest(bridgeTools(request, FORMATS[to], to === 'responses').conversation);
}

function show(happens: Loss['happens'], shown: Shown, to: FormatName): void {
  const { from, said, unsaid, param, becomes, own } = shown;
  switch (happens) {
    case 'refused':
      assert.throws(
        () => carried(shown, said, to),
        (error) =>
          error instanceof SvcError &&
          error.status === 400 &&
          error.errorType === 'unsupported_field' &&
          error.param === param,
      );
      break;
    case 'dropped':
      assert.ok(unsaid !== undefined);
      assert.notDeepEqual(said, unsaid);
      if (own && from === to) assert.notDeepEqual(carried(shown, said, to), carried(shown, unsaid, to));
      else assert.deepEqual(carried(shown, said, to), carried(shown, unsaid, to));
      break;
    case 'changed':
      assert.ok(becomes !== undefined);
      becomes(carried(shown, said, to), to);
  }
}

describe('each row of the table in docs/formats.md', () => {
  it('docs/formats.md: each row has a test case for each of its formats, and no case lacks a row', () => {
    const sorted = (rows: readonly { readonly what: string; readonly from: readonly FormatName[] }[]) =>
      rows.map(({ what, from }) => `${what}: ${[...new Set(from)].sort()}`).sort();
    const shown = Object.entries(ROWS).map(([what, cases]) => ({ what, from: cases.map(({ from }) => from) }));
    assert.deepEqual(sorted(shown), sorted(LOSSES));
  });

  for (const { what, to, happens } of LOSSES) {
    if (happens === 'dropped') {
      it(`format losses: ${what}: exists in its own format`, () => {
        for (const shown of ROWS[what] ?? []) {
          const own = shown.from;
          if (to.includes(own) && !shown.own) continue;
          assert.notDeepEqual(
            carried(shown, shown.said, own),
            carried(shown, shown.unsaid ?? {}, own),
            JSON.stringify(shown.said),
          );
        }
      });
    }
    for (const target of to) {
      it(`format losses: ${what} to ${target}: ${happens}`, () => {
        for (const shown of ROWS[what] ?? []) show(happens, shown, target);
      });
    }
  }
});
