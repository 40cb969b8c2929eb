/**
 * How the gateway's admin page is built: scripts and styles with the hash of their content in the name, and one
 * document for each language. The build and the tests of the page use it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';
import { compressed } from './compressed.ts';
import { bundle, textsOf } from './localization.ts';

const ROOT = join(import.meta.dirname, '..');
/** Languages besides English, with the names of the page. */
const TITLES = { en: 'Svc Gateway', de: 'Svc-Gateway' } as const;

/**
 * @param outdir folder of the page's files.
 * @param release minified, with compressed scripts and styles.
 */
export function adminPage(outdir: string, release: boolean): BuildOptions {
  return {
    entryPoints: [
      { in: join(ROOT, 'src/webview/admin/admin-page.tsx'), out: 'admin' },
      { in: join(ROOT, 'src/webview/admin/admin.css'), out: 'admin' },
    ],
    bundle: true,
    outdir,
    entryNames: '[name]-[hash]',
    platform: 'browser',
    format: 'esm',
    target: ['chrome128', 'firefox128', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
    legalComments: 'none',
    minify: release,
    metafile: true,
    plugins: [documents(outdir, release)],
  };
}

function documents(outdir: string, release: boolean): Plugin {
  return {
    name: 'documents',
    setup: ({ onEnd }) => {
      onEnd(({ metafile }) => {
        const files = Object.keys(metafile?.outputs ?? {}).map((path) => path.slice(path.lastIndexOf('/') + 1));
        const find = (extension: string) => files.find((file) => file.endsWith(extension)) ?? '';
        for (const [language, title] of Object.entries(TITLES)) {
          const words = language === 'en' ? {} : translations(`l10n/bundle.l10n.${language}.json`);
          const html = document({ language, title, script: find('.js'), style: find('.css'), words });
          writeFileSync(join(outdir, `admin.${language}.html`), html);
        }
        if (release) for (const file of files) compress(join(outdir, file));
      });
    },
  };
}

function compress(file: string): void {
  writeFileSync(`${file}.br`, compressed(readFileSync(file), true));
  rmSync(file);
}

/** Only the texts of this page. */
function translations(file: string): Readonly<Record<string, unknown>> {
  const all = bundle(file);
  const own = [...textsOf('src/webview/admin'), ...textsOf('src/webview/shared')];
  return Object.fromEntries(own.map((text) => [text, all[text]]));
}

interface PageDocument {
  readonly language: string;
  readonly title: string;
  readonly script: string;
  readonly style: string;
  readonly words: Readonly<Record<string, unknown>>;
}

function document({ language, title, script, style, words }: PageDocument): string {
  const content = JSON.stringify(words).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!DOCTYPE html>
<html lang="${language}">
<head>
  <meta charset="UTF-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="words" content="${content}">
  <title>${title}</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/admin/files/${style}">
  <script type="module" src="/admin/files/${script}"></script>
</head>
<body>
  <noscript>${title}: JavaScript</noscript>
</body>
</html>
`;
}
