import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';
import { compressed } from './compressed.ts';

/** Mermaid loads each kind of diagram with an import of its own. The others need large parsers or are rare. */
const KINDS = new Set([
  ...['flowDiagram', 'sequenceDiagram', 'classDiagram', 'classDiagram-v2', 'stateDiagram', 'stateDiagram-v2'],
  ...['erDiagram', 'ganttDiagram', 'pieDiagram', 'gitGraphDiagram', 'journeyDiagram', 'timeline-definition'],
  ...['quadrantDiagram', 'xychartDiagram'],
  // The layout of flowcharts, classes, states and entities.
  'dagre',
]);

/** What only the other kinds use, and KaTeX for formulas in labels. */
const UNUSED = /^(?:katex|cytoscape.*|d3-sankey|@upsetjs\/venn\.js)$/;

/**
 * How the script of the frame of diagrams is built. It ships compressed; the page gets its text from the extension and
 * puts it into the frame, which has no origin from which it could load a file.
 *
 * @param outdir folder of the result, `diagram-script.js.br`.
 * @param release compresses as much as possible, which takes seconds.
 */
export function diagramScript(root: string, outdir: string, release: boolean): BuildOptions {
  return {
    absWorkingDir: root,
    entryPoints: ['src/webview/diagram/diagram-script.ts'],
    outdir,
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'chrome128',
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [onlyUsed(root), compressing(outdir, release)],
  };
}

function compressing(outdir: string, release: boolean): Plugin {
  return {
    name: 'compressing',
    setup: ({ onEnd }) => {
      onEnd(({ outputFiles }) => {
        const [script] = outputFiles ?? [];
        if (script) writeFileSync(join(outdir, 'diagram-script.js.br'), compressed(script.contents, release));
      });
    },
  };
}

function onlyUsed(root: string): Plugin {
  return {
    name: 'only-used',
    setup(frame) {
      frame.onResolve({ filter: /^mermaid$/ }, () => ({
        path: `${root}/node_modules/mermaid/dist/mermaid.core.mjs`,
      }));
      // Two kinds need a small part of it.
      frame.onResolve({ filter: /^@mermaid-js\/parser$/ }, () => ({
        path: `${root}/src/webview/diagram/diagram-parser.ts`,
      }));
      frame.onResolve({ filter: /^\.\/.*-[A-Z0-9]{8}\.mjs$/ }, ({ kind, path }) => {
        const name = /([^/]+)-[A-Z0-9]{8}\.mjs$/.exec(path)?.[1] ?? '';
        if (kind !== 'dynamic-import' || KINDS.has(name)) return undefined;
        return { path: name, namespace: 'unused' };
      });
      frame.onResolve({ filter: UNUSED }, ({ path }) => ({ path, namespace: 'unused' }));
      frame.onLoad({ filter: /.*/, namespace: 'unused' }, () => ({
        contents: "throw new Error('Diagrams of this kind are not drawn.'); export default undefined;",
      }));
    },
  };
}
