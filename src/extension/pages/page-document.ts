export interface PageDocument {
  /** BCP 47. */
  readonly language: string;
  /** The Content Security Policy (content-policy.ts). */
  readonly policy: string;
  readonly nonce: string;
  /** Translated texts by their English ones. */
  readonly words: Readonly<Record<string, unknown>>;
  readonly title: string;
  /** URL of a module. */
  readonly script: string;
  /** URLs. */
  readonly styles: readonly string[];
  /**
   * Name of a field that takes keys until the script of the page runs, which then makes it a part of the page;
   * undefined: there is none.
   */
  readonly field: string | undefined;
}

/**
 * The HTML of a webview. Its style sheets and its script are loaded after it: VS Code gives a page the focus at its
 * `load` event, and keys before that event reach nothing.
 *
 * Does not import `vscode`, so that tests of the pages use the same HTML.
 */
export function pageDocument(page: PageDocument): string {
  const { field } = page;
  return `<!DOCTYPE html>
<html lang="${escapeText(page.language)}">
<head>
  <meta charset="UTF-8">
  <meta http-equiv="Content-Security-Policy" content="${page.policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="words" content="${escapeText(JSON.stringify(page.words))}">
  <title>${escapeText(page.title)}</title>
</head>
<body>${field === undefined ? '' : fieldHtml(field)}
  <script nonce="${page.nonce}">${loadLater(page)}${field === undefined ? '' : `\n${TAKE_KEYS}`}</script>
</body>
</html>`;
}

/**
 * Invisible until Preact has made it the input of the composer (`chat-page.tsx`). It is the first node of the body:
 * Preact would move another one, which ends a composition.
 */
function fieldHtml(name: string): string {
  return `<div class="composer loading"><textarea aria-label="${escapeText(name)}"></textarea></div>`;
}

/** Enter is noted for the script of the page: it is for the text that stands in the field at that moment. */
const TAKE_KEYS = `{
    const field = document.querySelector('textarea');
    field.parentElement.style.opacity = 0;
    window.onfocus = () => field.focus();
    field.onkeydown = (event) => {
      const { key, shiftKey, altKey, isComposing, keyCode } = event;
      if (key !== 'Enter' || shiftKey || altKey || isComposing || keyCode === 229) return;
      event.preventDefault();
      field.dataset.entered = field.value;
    };
  }`;

/** The script runs after the style sheets, so that nothing is drawn without them. */
function loadLater({ script, styles, nonce }: PageDocument): string {
  return `window.onload = () => {
    const add = (name, properties) => new Promise((resolve) => {
      const element = Object.assign(document.createElement(name), properties);
      element.onload = element.onerror = resolve;
      document.head.append(element);
    });
    const styles = ${JSON.stringify(styles)}.map((href) => add('link', { rel: 'stylesheet', href }));
    add('link', { rel: 'modulepreload', href: ${JSON.stringify(script)} });
    Promise.all(styles).then(() => add('script', { type: 'module', nonce: '${nonce}', src: ${JSON.stringify(script)} }));
  };`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
