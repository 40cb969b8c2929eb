import assert from 'node:assert/strict';
import { CircuitBreaker } from '../../src/completion/request/circuit-breaker.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import { VirtualClock } from './virtual-clock.ts';

const busy = new SvcError({ errorType: 'temporarily_unavailable', message: 'Busy.', retryable: true });
const noKey = new SvcError({ errorType: 'authentication_required', message: 'No key.' });

describe('CircuitBreaker', () => {
  it('CircuitBreaker: admits requests until one fails, then none until the window ends', async () => {
    const clock = new VirtualClock();
    const circuit = new CircuitBreaker(clock);
    assert.ok(circuit.admits() && circuit.admits());
    circuit.failed(busy);
    await clock.pass(1_999);
    assert.equal(circuit.admits(), false);
    await clock.pass(1);
    assert.equal(circuit.admits(), true);
  });

  it('CircuitBreaker: admits one probe after the window, and all requests after a successful probe', async () => {
    const clock = new VirtualClock();
    const circuit = new CircuitBreaker(clock);
    circuit.failed(busy);
    await clock.pass(2_000);
    assert.deepEqual([circuit.admits(), circuit.admits()], [true, false]);
    circuit.succeeded();
    assert.deepEqual([circuit.open, circuit.admits(), circuit.admits()], [undefined, true, true]);
  });

  it('CircuitBreaker: admits another probe if the first one was cancelled', async () => {
    const clock = new VirtualClock();
    const circuit = new CircuitBreaker(clock);
    circuit.failed(busy);
    await clock.pass(2_000);
    assert.ok(circuit.admits());
    circuit.stopped();
    assert.ok(circuit.admits());
  });

  it('CircuitBreaker: each failed probe doubles the window, up to two minutes', async () => {
    const clock = new VirtualClock();
    const circuit = new CircuitBreaker(clock);
    const windows: number[] = [];
    for (let failures = 0; failures < 8; failures++) {
      assert.ok(circuit.admits());
      circuit.failed(busy);
      windows.push((circuit.open?.until ?? 0) - clock.now());
      await clock.pass(windows.at(-1) ?? 0);
    }
    assert.deepEqual(windows, [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 120_000, 120_000]);
  });

  it('CircuitBreaker: several failures within the window count once', () => {
    const clock = new VirtualClock();
    const circuit = new CircuitBreaker(clock);
    for (let failures = 0; failures < 3; failures++) circuit.failed(busy);
    assert.equal(circuit.open?.until, 2_000);
  });

  it('CircuitBreaker: waits a minute if the user must act, and otherwise as long as Retry-After', () => {
    const clock = new VirtualClock();
    const circuit = new CircuitBreaker(clock);
    circuit.failed(noKey);
    assert.deepEqual([circuit.open?.until, circuit.open?.needsUser], [60_000, true]);
    circuit.reset();
    circuit.failed(busy.with({ retryAfterMs: 7_000 }));
    assert.deepEqual([circuit.open?.until, circuit.open?.needsUser], [7_000, false]);
  });
});
