import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../gateway/until.ts';
import { freePort } from '../host/free-port.ts';
import { CADDY, HAPROXY, NGINX, type Program, programPath } from '../host/programs.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');
const GATEWAY_PORTS = [4181, 4182, 4183];
const HOST = 'ai.example.com';

export interface Balancer {
  readonly program: Program;
  /** It asks `/readyz`, so it sends nothing to a gateway that is about to close its port. */
  readonly checks: boolean;
  readonly file: string;
  /** Writes the configuration and returns the arguments that start the program in the foreground. */
  readonly around: (folder: string, text: string) => string[];
}

/** The unchanged files, except for ports. */
export const BALANCERS: readonly Balancer[] = [
  {
    checks: true,
    program: HAPROXY,
    file: 'haproxy.cfg',
    around: (folder, text) => {
      writeFileSync(join(folder, 'haproxy.cfg'), text);
      return ['-db', '-f', join(folder, 'haproxy.cfg')];
    },
  },
  {
    checks: false,
    program: NGINX,
    file: 'nginx.conf',
    around: (folder, text) => {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const http = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
      const user = process.getuid?.() === 0 ? 'user root;' : '';
      const rest = `daemon off; pid ${folder}/nginx.pid; events {}`;
      writeFileSync(join(folder, 'nginx.conf'), `${user} ${rest}\nhttp { access_log off; ${http}\n${text}\n}\n`);
      return ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
    },
  },
  {
    checks: true,
    program: CADDY,
    file: 'Caddyfile',
    around: (folder, text) => {
      const site = text.replace(HOST, '').replace('{\n', '{\n\tbind 127.0.0.1\n');
      writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n}\n${site}`);
      return ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
    },
  },
];

export interface RunningBalancer {
  readonly url: string;
  /** Writes the configuration again, and reads it as `SIGHUP` does. */
  reload(change: (text: string) => string): void;
  close(): Promise<void>;
}

/** Starts a balancer in front of gateways on three ports. */
export async function startBalancer(balancer: Balancer, ports: readonly number[]): Promise<RunningBalancer> {
  const { program, file, around } = balancer;
  const path = programPath(program);
  const folder = mkdtempSync(join(tmpdir(), 'svc-balancer-'));
  const port = await freePort();
  const gateways = GATEWAY_PORTS.map((each, index) => [each, ports[index] ?? 0] as const);
  const text = withPorts(readFileSync(join(DEPLOY, file), 'utf8'), new Map([[8080, port], ...gateways]));
  const env = { PATH: process.env.PATH, HOME: folder };
  const child = spawn(path, around(folder, text), { stdio: ['ignore', 'ignore', 'pipe'], env });
  // With its workers, which write into the folder.
  const ended = once(child, 'close');
  const url = `http://127.0.0.1:${port}`;
  await ready(child, url);
  return {
    url,
    reload: (change) => {
      around(folder, change(text));
      child.kill('SIGHUP');
    },
    close: async () => {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Other ports in a text. All at once: a port that is put in may begin with one that is to be replaced. */
export function withPorts(text: string, ports: ReadonlyMap<number, number>): string {
  return text.replaceAll(/\b\d+\b/g, (port) => String(ports.get(Number(port)) ?? port));
}

/** Waits until it answers. @throws with its output if it ends before. */
async function ready(balancer: ChildProcess, url: string): Promise<void> {
  let said = '';
  balancer.stderr?.on('data', (part) => {
    said += part;
  });
  await until200(`${url}/readyz`, () => {
    if (balancer.exitCode !== null) throw new Error(said);
  });
}

export async function until200(url: string, check = () => {}): Promise<void> {
  await until(`${url} answers with 200`, async () => {
    check();
    const seen = await fetch(url).then(({ status }) => status, String);
    return seen === 200 || `answer: ${seen}`;
  });
}
