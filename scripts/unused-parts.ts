import type { Plugin } from 'esbuild';

/** Modules that are only there for what Svc does not use, and what takes their place. */
const REPLACED: readonly { readonly file: RegExp; readonly contents: string }[] = [
  // The list of all commands, for a cluster and sentinels too. `redis-connection.ts` sends texts; these are the login.
  {
    file: /@redis\/client\/dist\/lib\/commands\/index\.js$/,
    contents: ['AUTH', 'CLIENT_SETNAME', 'READONLY']
      .map((name) => `exports.${name} = require('./${name}').default;`)
      .join('\n')
      .concat('\nexports.default = exports.NON_STICKY_COMMANDS = exports; exports.__esModule = true;'),
  },
  {
    file: /@redis\/client\/dist\/index\.js$/,
    contents: "const { default: Client } = require('./lib/client'); exports.createClient = Client.create;",
  },
  // Measures clients for OpenTelemetry, if a program asks for it.
  {
    file: /@redis\/client\/dist\/lib\/opentelemetry\/index\.js$/,
    contents: 'exports.ClientRegistry = { instance: { register: () => {}, unregister: () => {} } };',
  },
  // The driver of Postgres written in C, which is a package of its own.
  { file: /\/pg\/lib\/native\/index\.js$/, contents: 'module.exports = undefined;' },
  // Which commands a cluster may send where, and which answers a client may keep.
  {
    file: /@redis\/client\/dist\/lib\/command-metadata\/command-metadata-data\.js$/,
    contents: 'exports.COMMAND_METADATA = {};',
  },
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
