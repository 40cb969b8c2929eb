// Builds everything that ships into dist/, and with --tests the suites that run inside VS Code into out/.
// --watch builds on each change and prints one line with the state of build and types; --release leaves source maps out.
import { chmod, cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { build, context } from 'esbuild';
import { adminPage } from './scripts/admin-page.ts';
import { compressed } from './scripts/compressed.ts';
import { diagramScript } from './scripts/diagram-script.ts';
import { writeIconFont } from './scripts/icon-font.ts';
import { writeLicenses } from './scripts/licenses.ts';
import { withoutUnusedParts } from './scripts/unused-parts.ts';
import { WatchReport } from './scripts/watch-report.ts';

const has = (flag) => process.argv.includes(flag);
const release = has('--release');
const watch = has('--watch');
/** Renamed to dist/ when all of it is there: what runs meanwhile, such as a second window, has the build before. */
const DIST = watch ? 'dist' : `dist.${process.pid}`;

const common = {
  bundle: true,
  logLevel: 'warning',
  minify: release,
  sourcemap: release ? false : 'linked',
  legalComments: 'none',
  target: 'node22',
};

// Some libraries are CommonJS and ask for Node's own modules with require().
const requireForCommonJs =
  "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);";

const host = {
  ...common,
  // Splitting makes every dynamic import a file of its own: nothing is loaded before it is used.
  entryPoints: { extension: 'src/extension/activate.ts', 'cli-main': 'src/cli/main.ts' },
  outdir: DIST,
  platform: 'node',
  format: 'esm',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  external: ['vscode'],
  mainFields: ['module', 'main'],
  banner: { js: requireForCommonJs },
  plugins: [withoutUnusedParts()],
};

const page = {
  ...common,
  entryPoints: [
    { in: 'src/webview/chat/chat-page.tsx', out: 'chat' },
    { in: 'src/webview/chat/chat.css', out: 'chat' },
    { in: 'src/webview/provider/provider-page.tsx', out: 'provider' },
    { in: 'src/webview/provider/provider.css', out: 'provider' },
  ],
  outdir: `${DIST}/webview`,
  platform: 'browser',
  format: 'esm',
  splitting: true,
  target: 'chrome128',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.ttf': 'file' },
  assetNames: '[name]',
};

const diagrams = diagramScript(import.meta.dirname, `${DIST}/webview`, release);

// The gateway serves it.
const admin = { ...adminPage(`${DIST}/admin-page`, release), sourcemap: common.sourcemap };

const suites = {
  ...common,
  entryPoints: { suite: 'test/host/suites/run.ts' },
  outdir: 'out/test',
  outExtension: { '.js': '.cjs' },
  platform: 'node',
  format: 'cjs',
  external: ['vscode', 'mocha'],
  sourcemap: 'inline',
};

const jobs = [host, page, admin, diagrams, ...(has('--tests') ? [suites] : [])];
if (watch) {
  await rm('dist', { recursive: true, force: true });
  await writeFiles();
  const report = new WatchReport();
  for (const job of jobs) await (await context({ ...job, logLevel: 'silent', plugins: [report.plugin()] })).watch();
} else {
  try {
    await writeFiles();
    const built = await Promise.all(jobs.map((job) => build({ ...job, metafile: true })));
    const shipped = built.slice(0, 4).flatMap(({ metafile }) => Object.keys(metafile.inputs));
    if (release) writeLicenses(import.meta.dirname, shipped, ['@vscode/codicons']);
    const before = `${DIST}.before`;
    await rename('dist', before).catch((error) => {
      if (error.code !== 'ENOENT') throw error;
    });
    await rename(DIST, 'dist');
    await rm(before, { recursive: true, force: true });
  } finally {
    await rm(DIST, { recursive: true, force: true });
  }
}

/** What is not bundled. */
async function writeFiles() {
  await mkdir(`${DIST}/webview`, { recursive: true });
  await mkdir(`${DIST}/admin-page`, { recursive: true });
  writeIconFont(import.meta.dirname, `${DIST}/webview`);
  // src/catalog/public/snapshot.ts reads it beside itself; shared by both entries, it is bundled into a chunk.
  await mkdir(`${DIST}/chunks`, { recursive: true });
  const snapshot = await readFile('src/catalog/public/snapshot.json');
  await writeFile(`${DIST}/chunks/snapshot.json.br`, compressed(snapshot, release));
  await cp('src/cli/launch', `${DIST}/bin`, { recursive: true });
  await rename(`${DIST}/bin/cli.js`, `${DIST}/cli.js`);
  await chmod(`${DIST}/cli.js`, 0o755);
}
