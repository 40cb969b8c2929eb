import { t } from '../../shared/words.ts';

/** Longer sources are not drawn: the layout of a diagram takes the page's time. */
const MAX_SOURCE = 20_000;

let loaded: Promise<(id: string, source: string) => Promise<string>> | undefined;
let count = 0;

/** True for a code block whose source is a diagram. */
export function isDiagram(language: string, source: string): boolean {
  return language.toLowerCase() === 'mermaid' && source.length <= MAX_SOURCE && source.trim() !== '';
}

/**
 * Draws a Mermaid source. The picture is an image, so that nothing in it can run, load or imitate the panel.
 *
 * @throws Error if the source is not valid.
 */
export async function drawDiagram(source: string): Promise<HTMLImageElement> {
  loaded ??= import('./diagram-renderer.ts').then(({ renderDiagram }) => renderDiagram);
  const render = await loaded;
  count += 1;
  const svg = await render(`diagram-${count}`, source);
  const image = document.createElement('img');
  image.alt = t('Diagram');
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  return image;
}
