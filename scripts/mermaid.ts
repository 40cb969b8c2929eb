/**
 * Names for esbuild's `define`. The file of `@mermaid-js/tiny` declares a variable and then reads it as a property of the
 * global object, which is the same in a classic script but not in a module.
 */
export const MERMAID = { 'globalThis.__esbuild_esm_mermaid_nm': '__esbuild_esm_mermaid_nm' };
