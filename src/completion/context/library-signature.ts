/** Folders of libraries, also inside of a workspace. */
const PACKAGES = /(?:^|\/)(?:node_modules|site-packages|dist-packages)\//;
/**
 * Type stubs, the standard libraries of languages, and the packages that their tools download. Other files outside of
 * the workspace belong to other projects.
 */
const PUBLIC =
  /\.pyi$|\/(?:lib\/python\d[\d.]*|python\d+\/lib)\/|\/pkg\/mod\/|\/(?:usr\/local\/go|usr\/lib\/go(?:-[\d.]+)?|program files\/go|go\/[\d.]+\/libexec|sdk\/go[\d.]+)\/src\/|\/\.(?:cargo\/registry|rustup\/toolchains|pub-cache)\/|\/gems\/[\w.-]+-\d|\/usr\/(?:include|lib\/gcc)\//i;

/** @param pathInFolder undefined outside of the workspace. */
export function isLibrary(
  { scheme, path }: { readonly scheme: string; readonly path: string },
  pathInFolder: string | undefined,
): boolean {
  if (pathInFolder !== undefined) return PACKAGES.test(pathInFolder);
  // Java: a class of a library.
  return scheme === 'jdt' || PACKAGES.test(path) || PUBLIC.test(path);
}

/** Characters of a signature. */
const MAX_SIGNATURE = 400;

const STRINGS = /"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|`(?:[^`\\]|\\[\s\S])*`?/g;
/** In Rust, `'a` is a lifetime. */
const RUST_STRINGS = /"(?:[^"\\]|\\[\s\S])*"?/g;

/**
 * The first block of code of a hover, without its language. Types and default values may be strings, which may be
 * secret.
 * @param path of the file with the name.
 */
export function readSignature(hover: string, path: string): string | undefined {
  const [, block = ''] = hover.split('```', 2);
  const code = block.slice(block.indexOf('\n') + 1).trim();
  const signature = code.replace(stringsOf(path), '"…"').slice(0, MAX_SIGNATURE);
  return signature === '' ? undefined : signature;
}

/** The signature of a call without the text of default values. Strings in types are what the call may be given. */
export function withoutDefaults(label: string, path: string): string {
  let inDefault = false;
  const pieces = new RegExp(`${stringsOf(path).source}|=(?!>)`, 'g');
  const text = label.replace(pieces, (found) => {
    if (found === '=') inDefault = true;
    return found === '=' || !inDefault ? found : '"…"';
  });
  return text.slice(0, MAX_SIGNATURE);
}

function stringsOf(path: string): RegExp {
  return path.endsWith('.rs') ? RUST_STRINGS : STRINGS;
}
