/**
 * The Content Security Policy of our webviews: only their own script, styles, font and images. `form-action` and
 * `base-uri` are set because `default-src` does not cover them. See docs/security.md, "The panel".
 * Does not import `vscode`, so that tests of the pages use the same policy.
 *
 * @param source origin of the extension's files (`webview.cspSource`).
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
