import assert from 'node:assert/strict';
import fc from 'fast-check';
import { writeFimRequest } from '../../src/wire/fim/fim-http-request.ts';
import { FIM_DIALECTS } from '../../src/wire/fim/fim-request.ts';
import { StopSequences } from '../../src/wire/fim/stop-sequences.ts';

describe('stop sequences of code completions', () => {
  // A chat model may begin with a fence, which a stop sequence would cut: its answer is trimmed where it is read.
  for (const dialect of FIM_DIALECTS.filter((each) => each !== 'chat')) {
    it(`${dialect}: a request has at most four stop sequences, and the others are applied to the answer`, () => {
      const stop = ['\n\n', 'a1', 'b2', 'c3', 'd4'];
      const fimRequest = { model: 'm', prefix: 'p', suffix: 's', maxTokens: 10, stop };
      const { body, unsentStops } = writeFimRequest(dialect, fimRequest, true);
      const options: unknown = body.options;
      const sent = body.stop ?? (typeof options === 'object' && options !== null && 'stop' in options && options.stop);
      assert.deepEqual(sent, ['\n\n', 'a1', 'b2', 'c3']);
      assert.ok(unsentStops.includes('d4'));
    });
  }

  it('StopSequences: text is cut at the first stop sequence, for any pieces', () => {
    const stops = ['<|end|>', '\n\n', 'ab', 'abc'];
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '\n', '<|', 'end', '|>', 'x'), { maxLength: 30 });
    fc.assert(
      fc.property(text, (pieces) => {
        const sequences = new StopSequences(stops);
        let out = '';
        let ended = false;
        for (const piece of pieces) {
          const { text: passed, stopped } = sequences.push(piece);
          out += passed;
          ended = stopped;
          if (stopped) break;
        }
        if (!ended) out += sequences.end();
        const whole = pieces.join('');
        const cuts = stops.map((stop) => whole.indexOf(stop)).filter((at) => at >= 0);
        assert.equal(out, cuts.length > 0 ? whole.slice(0, Math.min(...cuts)) : whole);
      }),
    );
  });
});
