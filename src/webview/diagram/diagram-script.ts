import mermaid from 'mermaid';
import type { DrawMessage, DrawnMessage } from './diagram-message.ts';

const FONT = 'sans-serif';
let dark: boolean | undefined;

// The only sender is the page that contains the frame.
addEventListener('message', ({ data }: MessageEvent<DrawMessage>) => {
  const { number, source } = data;
  configure(data.dark);
  draw(number, source).then(
    (svg) => tell({ number, svg }),
    (thrown: unknown) => tell({ number, error: thrown instanceof Error ? thrown.message : String(thrown) }),
  );
});
tell({ number: 0 });

function tell(message: DrawnMessage): void {
  parent.postMessage(message, '*');
}

/** @throws Error with the line of the mistake. */
async function draw(number: number, source: string): Promise<string> {
  // Mermaid measures texts in the document, in the font of the picture. The policy forbids styles as texts.
  const place = document.createElement('div');
  place.style.width = '800px';
  place.style.font = `16px / 1.5 ${FONT}`;
  document.body.append(place);
  try {
    const { svg } = await mermaid.render(`diagram-${number}`, source, place);
    return asImage(svg);
  } finally {
    place.remove();
  }
}

function configure(isDark: boolean): void {
  if (dark === isDark) return;
  dark = isDark;
  mermaid.initialize({
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

/** Mermaid writes HTML, with its size as a style. An image needs XML, and its size in pixels. */
function asImage(html: string): string {
  const svg = new DOMParser().parseFromString(html, 'text/html').querySelector('svg');
  if (svg === null) throw new Error('The diagram is empty.');
  const { width, height } = svg.viewBox.baseVal;
  if (width > 0 && height > 0) {
    svg.setAttribute('width', String(width));
    svg.setAttribute('height', String(height));
  }
  return new XMLSerializer().serializeToString(svg);
}
