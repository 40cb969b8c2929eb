// What a failed test shows of the process that runs it. The windows are added by the one that has them: failure-report.ts.

const KEPT_REQUESTS = 20;

/** What a failed test can show: the texts of files, by their names. */
type Evidence = () => Readonly<Record<string, string>>;

/** Sources that are open, for example the requests of a simulated provider. */
const sources = new Set<Evidence>();

/** Adds a source. Returns the function that removes it. */
export function addEvidence(evidence: Evidence): () => void {
  sources.add(evidence);
  return () => sources.delete(evidence);
}

/** The last requests of a simulated provider, as a text. */
export function describeRequests(
  requests: readonly { readonly method: string; readonly path: string; readonly body: unknown }[],
): string {
  return requests
    .slice(-KEPT_REQUESTS)
    .map(({ method, path, body }) => `${method} ${path}\n${JSON.stringify(body, null, 2)}`)
    .join('\n\n');
}

/** What the sources in this process show: files by their name. */
export function collectEvidence(): Readonly<Record<string, string>> {
  return Object.assign({}, ...[...sources].map((evidence) => evidence()));
}

/**
 * For mocha: reports each test and each hook that failed.
 *
 * @param report keeps what the sources and the windows show when it is called. The test waits for it.
 */
export function failureHooks(report: (title: string) => Promise<void>): Mocha.RootHookObject {
  const reported = new WeakSet<Mocha.Test>();
  return {
    /** A test is reported before the hooks after it close what it shows. */
    beforeEach(this: Mocha.Context) {
      const test = this.currentTest;
      const run = test?.fn;
      if (!run) return;
      test.fn = async function (this: Mocha.Context) {
        try {
          await Reflect.apply(run, this, []);
        } catch (error) {
          reported.add(test);
          await report(test.fullTitle());
          throw error;
        }
      };
    },
    /** Its time limit, or a hook before it. */
    async afterEach(this: Mocha.Context) {
      const test = this.currentTest;
      // Without a state if a hook before it failed.
      if (test && test.state !== 'passed' && !test.isPending() && !reported.has(test)) await report(test.fullTitle());
    },
  };
}
