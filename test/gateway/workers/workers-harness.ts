import { ServeHarness, type ServeProcess } from '../serve-harness.ts';
import { until } from '../until.ts';

export const WORKERS = 3;

/** `svc serve --workers` with the admin API, and an admin key. */
export class WorkersHarness {
  readonly serve: ServeHarness;
  readonly gateway: ServeProcess;
  readonly key: string;

  static async start(
    models: Record<string, unknown> = { m: { cost: { input: 1, output: 2 } } },
    gateway: Record<string, unknown> = {},
  ): Promise<WorkersHarness> {
    const serve = await ServeHarness.start();
    await serve.configure(models, { admin: true, ...gateway });
    const { stdout } = await serve.svc('keys', 'create', 'ops', '--admin', 'read');
    const started = await serve.serve(['--workers', String(WORKERS)]);
    await started.logged('all workers accept requests');
    return new WorkersHarness(serve, started, stdout.trim().split('\n').at(-1) ?? '');
  }

  private constructor(serve: ServeHarness, gateway: ServeProcess, key: string) {
    this.serve = serve;
    this.gateway = gateway;
    this.key = key;
  }

  close(): Promise<void> {
    return this.serve.close();
  }

  /** On a connection of its own, so that any worker may get it. */
  call(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    return fetch(this.gateway.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${this.key}`, connection: 'close', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** A whole request of a model. */
  async ask(model = 'up/m'): Promise<{ readonly status: number; readonly id: string }> {
    const response = await this.call('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });
    await response.text();
    return { status: response.status, id: response.headers.get('x-request-id') ?? '' };
  }

  /** The log line of a request that has ended; undefined if it is not there yet. */
  logged(requestId: string): { readonly pid: number } | undefined {
    const line = this.gateway
      .written()
      .split('\n')
      .find((each) => each.includes('"msg":"request"') && each.includes(`"id":"${requestId}"`));
    return line === undefined ? undefined : JSON.parse(line);
  }

  /** The workers that accept requests. */
  async pids(): Promise<readonly number[]> {
    const { data } = await (await this.call('/admin/v1/replicas')).json();
    return data.map(({ pid }: { readonly pid: number }) => pid);
  }

  /** The answers of all workers to a request of the admin API. */
  async answersOfAll<T>(path: string): Promise<readonly T[]> {
    const answers = new Map<number, T>();
    await until('all workers have answered', async () => {
      const response = await this.call(path);
      const answer = await response.json();
      const id = response.headers.get('x-request-id') ?? '';
      await until('the request is in the log', () => this.logged(id) !== undefined);
      answers.set(this.logged(id)?.pid ?? 0, answer);
      return answers.size === WORKERS;
    });
    return [...answers.values()];
  }
}
