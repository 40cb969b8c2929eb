import assert from 'node:assert/strict';

/** A page that shows live requests, on a connection of its own. */
export class LivePage {
  /** The ids of the requests that it was shown. */
  readonly ids: string[] = [];
  readonly models = new Set<string>();
  readonly samples: { readonly shown: number; readonly total: number }[] = [];
  /** Seconds of the gateway that have passed: it has sent all samples of before. */
  seconds = 0;
  ended = false;
  readonly #end = new AbortController();

  static async open(call: (path: string, signal: AbortSignal) => Promise<Response>, query = ''): Promise<LivePage> {
    const page = new LivePage();
    const answer = await call(`/admin/v1/requests/live${query}`, page.#end.signal);
    assert.equal(answer.status, 200);
    void page
      .#read(answer)
      .catch(() => undefined)
      .finally(() => {
        page.ended = true;
      });
    return page;
  }

  close(): void {
    this.#end.abort();
  }

  async #read({ body }: Response): Promise<void> {
    let text = '';
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (text + chunk).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        if (event === ': ') this.seconds += 1;
        const data = event.slice(event.indexOf('{'));
        if (event.startsWith('event: request')) {
          const { id, model } = JSON.parse(data);
          this.ids.push(id);
          this.models.add(model);
        }
        if (event.startsWith('event: sample')) this.samples.push(JSON.parse(data));
      }
    }
  }
}
