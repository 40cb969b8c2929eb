/**
 * What a webview of ours may load: its own script, styles, font and pictures. `default-src` doesn't cover forms and
 * base: they are named. Sources: docs/security.md, "The panel".
 *
 * @param source where our own files come from, as VS Code names it.
 */
export function contentPolicy(nonce: string, source: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' ${source}`,
    `style-src ${source}`,
    `font-src ${source}`,
    `img-src ${source} data: blob:`,
    "connect-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
  ].join('; ');
}
