import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import type { Message, Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');
const PROJECTS = ['.', 'src/webview'];
/** The builds of one change end within this time of each other. */
const SETTLE_MS = 100;

/** Prints one line after the builds of a change: whether the build succeeded and whether the types hold. */
export class WatchReport {
  readonly #errors = new Map<Plugin, readonly Message[]>();
  #timer: NodeJS.Timeout | undefined;
  #checking = false;
  #changed = false;

  /** A plugin for one build. */
  plugin(): Plugin {
    const plugin: Plugin = {
      name: 'watch-report',
      setup: (build) => {
        build.onEnd(({ errors }) => {
          this.#errors.set(plugin, errors);
          clearTimeout(this.#timer);
          this.#timer = setTimeout(() => this.#report(), SETTLE_MS);
        });
      },
    };
    return plugin;
  }

  async #report(): Promise<void> {
    this.#changed = true;
    if (this.#checking) return;
    this.#checking = true;
    while (this.#changed) {
      this.#changed = false;
      const types = (await Promise.all(PROJECTS.map(typeErrors))).flat();
      // The files have changed in the meantime: the line would be about old text.
      if (this.#changed) continue;
      const built = [...this.#errors.values()].flat().map(describe);
      console.log(`${new Date().toTimeString().slice(0, 8)} build: ${summary(built)} · types: ${summary(types)}`);
    }
    this.#checking = false;
  }
}

function summary(errors: readonly string[]): string {
  const [first] = errors;
  if (first === undefined) return 'ok';
  return errors.length === 1 ? first : `${errors.length} errors, first: ${first}`;
}

function describe({ text: message, location }: Message): string {
  return location === null ? message : `${location.file}:${location.line}:${location.column + 1} ${message}`;
}

/** The errors of a project, one line each. */
async function typeErrors(project: string): Promise<readonly string[]> {
  const cache = join(ROOT, '.cache', `types-${project.replaceAll(/\W/g, '-')}.json`);
  const args = ['-p', project, '--pretty', 'false', '--incremental', '--tsBuildInfoFile', cache];
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const child = spawn(process.execPath, [tsc, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const output = stripVTControlCharacters(await text(child.stdout));
  return output.split('\n').filter((line) => /: error TS\d+:/.test(line));
}
