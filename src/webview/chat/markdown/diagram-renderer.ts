import '@mermaid-js/tiny';

/** The part of Mermaid that is used. The package has no types and sets a global variable. */
interface Mermaid {
  initialize(options: Readonly<Record<string, unknown>>): void;
  /** @throws Error if the source is not a valid diagram. */
  render(id: string, source: string, place: Element): Promise<{ readonly svg: string }>;
}

declare global {
  var mermaid: Mermaid;
}

const FONT = 'sans-serif';
let dark: boolean | undefined;

/**
 * The diagram as SVG.
 *
 * @throws Error with the line of the mistake.
 */
export async function renderDiagram(id: string, source: string): Promise<string> {
  configure();
  // Mermaid measures texts in the page. The class gives them the font of the picture.
  const place = document.createElement('div');
  place.className = 'diagram-measure';
  place.setAttribute('aria-hidden', 'true');
  document.body.append(place);
  try {
    const { svg } = await globalThis.mermaid.render(id, source, place);
    return withSize(svg);
  } finally {
    place.remove();
  }
}

function configure(): void {
  const isDark = !document.body.matches('.vscode-light, .vscode-high-contrast-light');
  if (dark === isDark) return;
  dark = isDark;
  globalThis.mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    theme: isDark ? 'dark' : 'default',
    fontFamily: FONT,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    maxTextSize: 20_000,
    maxEdges: 300,
  });
}

/** An image needs its size in pixels, which Mermaid writes as a style. */
function withSize(svg: string): string {
  const box = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg);
  return box ? svg.replace('<svg ', `<svg height="${box[2]}" `).replace(/ width="100%"/, ` width="${box[1]}"`) : svg;
}
