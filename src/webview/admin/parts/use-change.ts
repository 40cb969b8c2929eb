import { useSignal } from '@preact/signals';
import { describeFailure } from '../data/use-answer.ts';

/** State of a form that sends a change. */
export interface Change {
  readonly busy: boolean;
  readonly problem: string;
  /** Runs the change. A failure is shown, and the form stays. */
  readonly run: (change: () => Promise<void>) => Promise<void>;
}

export function useChange(): Change {
  const busy = useSignal(false);
  const problem = useSignal('');
  return {
    busy: busy.value,
    problem: problem.value,
    run: async (change) => {
      if (busy.peek()) return;
      busy.value = true;
      problem.value = '';
      try {
        await change();
      } catch (thrown) {
        problem.value = describeFailure(thrown);
      } finally {
        busy.value = false;
      }
    },
  };
}
