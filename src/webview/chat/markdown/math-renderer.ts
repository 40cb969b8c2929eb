import katex from 'katex';

/**
 * The formula as MathML, which the browser draws without styles and fonts of its own.
 *
 * @throws katex.ParseError if it is not valid TeX.
 */
export function renderMath(tex: string, display: boolean): string {
  return katex.renderToString(tex, {
    output: 'mathml',
    displayMode: display,
    throwOnError: true,
    strict: 'ignore',
    trust: false,
    // Bounds for macros that define or enlarge themselves.
    maxExpand: 200,
    maxSize: 20,
  });
}
