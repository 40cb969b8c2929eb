import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import {
  CADDY,
  CHROMIUM,
  COMPOSE_SCHEMA,
  FISH,
  HAPROXY,
  HELM,
  NGINX,
  POSTGRES,
  type Program,
  ZSH,
} from '../host/programs.ts';

export const ROOT = join(import.meta.dirname, '..', '..');

/** Test files that run in the same way. */
export interface Suite {
  readonly name: string;
  /** Globs below the project's folder. */
  readonly files: readonly string[];
  readonly except?: readonly string[];
  /** Options of Mocha. Absent: the suites inside VS Code, which have a runner of their own. */
  readonly mocha?: readonly string[];
  /** The suite tests `dist/`. */
  readonly built: boolean;
  /** Not from npm. */
  readonly programs: readonly Program[];
  /** It needs the VS Code of the tests. */
  readonly editor: boolean;
  /** Part of the command without a pattern. */
  readonly usual: boolean;
}

/** Keeps compiled sources between processes. */
const COMPILED = ['--require', 'test/compile-cache.ts'];

/** Milliseconds for one test. Waits within it have their own limits and name what they wait for. */
const TIME_LIMIT = '600000';

const SERVERS = [
  'test/gateway/{postgres,workers}/**/*.test.ts',
  'test/deploy/**/*.test.ts',
  'test/docs/proxies.test.ts',
];

const plain: Suite = {
  name: 'suites without servers',
  files: ['test/{base,wire,config,catalog,provider,completion,chat,gateway,cli,docs,hostile,run}/**/*.test.ts'],
  except: SERVERS,
  mocha: ['--parallel', '--jobs', '2', '--timeout', TIME_LIMIT, ...COMPILED],
  programs: [],
  editor: false,
  built: false,
  usual: true,
};
const servers: Suite = {
  name: 'databases, workers and balancers',
  files: SERVERS,
  mocha: ['--timeout', TIME_LIMIT, ...COMPILED],
  programs: [POSTGRES, HAPROXY, NGINX, CADDY, COMPOSE_SCHEMA, HELM, ZSH, FISH],
  editor: false,
  built: false,
  usual: true,
};
const CHAT_PAGE = ['test/webview/{gallery,panel,panel-*,tool-cards}.test.ts'];
const chatPage: Suite = {
  name: 'chat page in Chromium',
  files: CHAT_PAGE,
  mocha: ['--timeout', TIME_LIMIT, '--require', 'test/webview/failure-report.ts'],
  programs: [CHROMIUM],
  editor: false,
  built: true,
  usual: true,
};
const pages: Suite = {
  ...chatPage,
  name: 'other pages in Chromium',
  files: ['test/webview/**/*.test.ts'],
  except: CHAT_PAGE,
};
const editor: Suite = {
  name: 'suites in VS Code',
  files: ['test/host/suites/*.suite.ts'],
  programs: [CHROMIUM],
  editor: true,
  built: true,
  usual: true,
};
const endToEnd: Suite = {
  name: 'end to end',
  files: ['test/e2e/**/*.spec.ts'],
  except: ['test/e2e/{chat,completion,next-edit}*.spec.ts'],
  mocha: ['--timeout', TIME_LIMIT, '--require', 'test/e2e/failure-report.ts', '--exit'],
  programs: [CHROMIUM],
  editor: true,
  built: true,
  usual: true,
};
const chat: Suite = { ...endToEnd, name: 'chat, end to end', files: ['test/e2e/chat-*.spec.ts'], except: [] };
const completions: Suite = {
  ...endToEnd,
  name: 'completions, end to end',
  files: ['test/e2e/{completion,next-edit}*.spec.ts'],
  except: [],
};
const clients: Suite = {
  name: 'coding agents and SDKs',
  files: ['test/clients/**/*.test.ts'],
  mocha: ['--timeout', TIME_LIMIT, '--exit'],
  programs: [],
  editor: false,
  built: true,
  usual: false,
};

/** In the order of their start: what installs nothing first, then the longest, and at the end two that end together. */
export const SUITES: readonly Suite[] = [plain, servers, chat, completions, endToEnd, editor, chatPage, pages, clients];

/** Suites that run beside each other: on two cores, a third one computes while the others wait. */
export const BESIDE = 3;

/** Files of the suites without servers that start no process and take little time. */
const FAST = ['test/{base,wire,config,catalog,provider,completion,chat,cli}/*.test.ts', 'test/gateway/*.test.ts'];
const NOT_FAST = [
  'test/cli/{catalog-refresh,chat,commands,edit,shell-completion,window-keys}.test.ts',
  'test/gateway/{curl,deadline,official-clients,secrets,serve,serve-end,serve-state,soak,telemetry}.test.ts',
  // The longest property tests.
  'test/{base,wire,config}/{ignore-patterns,linear-time,properties,replace-file}.test.ts',
  'test/completion/{real-code,soak,typing-properties}.test.ts',
  'test/gateway/{faults,limits,stream-batches,usage-tables}.test.ts',
];
export const FAST_SUITE: Suite = { ...plain, name: 'fast suites', files: FAST, except: NOT_FAST };

/** Some files of a suite; `grep` limits them to tests whose title contains it. */
export interface Selection {
  readonly suite: Suite;
  readonly files: readonly string[];
  readonly grep?: string;
}

/** Paths of the suite's files, relative to the project's folder, with `/`. */
export function filesOf({ files, except = [] }: Suite): readonly string[] {
  return globSync([...files], { cwd: ROOT })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !except.some((glob) => matchesGlob(file, glob)))
    .sort();
}

/**
 * Tests of any suite. A pattern is a part of a file's path or a glob; if no file matches, it is a part of the title of a
 * test or a group. Without patterns, all files that contain `grep` in a title.
 */
export function select(patterns: readonly string[], grep?: string): readonly Selection[] {
  const suites = SUITES.map((suite) => ({ suite, files: filesOf(suite) }));
  const keep = (matches: (file: string) => boolean) =>
    suites.map(({ suite, files }) => ({ suite, files: files.filter(matches) })).filter(({ files }) => files.length > 0);
  const withTitle = (text: string) => keep((file) => titles(file).some((title) => title.includes(text)));
  if (patterns.length === 0) return grep === undefined ? [] : withTitle(grep).map((each) => ({ ...each, grep }));
  const paths = patterns.map((pattern) => pattern.replaceAll('\\', '/').replace(/^\.\//, ''));
  const byPath = keep((file) => paths.some((path) => file.includes(path) || matchesGlob(file, path)));
  if (byPath.length > 0) return byPath.map((each) => (grep === undefined ? each : { ...each, grep }));
  return patterns.flatMap((title) => withTitle(title).map((each) => ({ ...each, grep: title })));
}

/** Titles of the groups and tests in a file, as they are written in the source. */
function titles(file: string): readonly string[] {
  return titlesAfter(file, /\b(?:describe|it|step)/);
}

/** Titles of the groups that are in no other one. */
export function groups(file: string): readonly string[] {
  return titlesAfter(file, /^describe/);
}

function titlesAfter(file: string, { source }: RegExp): readonly string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const title = /\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`]*)`)/;
  const calls = text.matchAll(new RegExp(`(?:${source})${title.source}`, 'gm'));
  return [...calls].map(([, single, double, template]) => (single ?? double ?? template ?? '').replaceAll('\\', ''));
}
