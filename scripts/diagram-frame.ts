import { build, type Plugin } from 'esbuild';

/** What the page imports: the text of the script that runs in the frame of diagrams. */
const IMPORTED = 'diagram-script-text';
const ENTRY = 'src/webview/diagram/diagram-script.ts';

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
 * Makes the script a module that exports its text, because the frame has no origin from which it could load a file.
 *
 * @param inputs receives the paths of what the text contains, for the licences.
 */
export function diagramFrame(root: string, release = true, inputs: Set<string> = new Set()): Plugin {
  return {
    name: 'diagram-frame',
    setup(page) {
      page.onResolve({ filter: /^diagram-script-text$/ }, () => ({ path: IMPORTED, namespace: IMPORTED }));
      page.onLoad({ filter: /.*/, namespace: IMPORTED }, async () => {
        const { outputFiles, metafile } = await build({
          absWorkingDir: root,
          entryPoints: [ENTRY],
          bundle: true,
          minify: release,
          write: false,
          metafile: true,
          format: 'iife',
          platform: 'browser',
          target: 'chrome128',
          legalComments: 'none',
          logLevel: 'warning',
          plugins: [onlyUsed(root)],
        });
        const files = Object.keys(metafile.inputs).filter((file) => !file.includes(':'));
        for (const file of files) inputs.add(file);
        const watchFiles = files.filter((file) => file.startsWith('src/')).map((file) => `${root}/${file}`);
        return { contents: outputFiles[0]?.text ?? '', loader: 'text', watchFiles };
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
