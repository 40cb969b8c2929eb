import type { Plugin } from 'esbuild';

/** Modules that are only there for what Svc does not use, and what takes their place. */
const REPLACED: readonly { readonly file: RegExp; readonly contents: string }[] = [
  // The driver of Postgres written in C, which is a package of its own.
  { file: /\/pg\/lib\/native\/index\.js$/, contents: 'module.exports = undefined;' },
  // The same parser of HTTP twice: this one needs a CPU with SIMD, the other works everywhere and is as fast here.
  { file: /undici\/lib\/llhttp\/llhttp_simd-wasm\.js$/, contents: "module.exports = require('./llhttp-wasm.js');" },
  // The id of the machine, for a detector that telemetry does not use: five files for each of three copies.
  {
    file: /@opentelemetry\/resources\/.*\/machine-id\/getMachineId\.js$/,
    contents: 'export const getMachineId = async () => undefined;',
  },
  // Writes HTML. It contains the names of all characters; only reading needs the other list.
  { file: /\/dom-serializer\/.*\/index\.js$/, contents: 'export default undefined; export const render = undefined;' },
];

/** Leaves parts of packages out of what ships. Without it, everything works the same and is larger. */
export function withoutUnusedParts(): Plugin {
  return {
    name: 'unused-parts',
    setup(host) {
      for (const { file, contents } of REPLACED) host.onLoad({ filter: file }, () => ({ contents, loader: 'js' }));
    },
  };
}
