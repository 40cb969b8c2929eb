import { t } from '../../shared/words.ts';
import type { DiagramFrame } from './diagram-frame.ts';

/** Longer sources are not drawn. */
const MAX_SOURCE = 20_000;

/** Why sources could not be drawn. They are not drawn again when the conversation is shown again. */
const failed = new Map<string, unknown>();
const MAX_FAILED = 200;

let loadScript: () => Promise<string> = () => Promise.reject(new Error('The page has not set it.'));
let loaded: Promise<DiagramFrame> | undefined;

/** @param load gets the text of `src/webview/diagram/diagram-script.ts`. Called for the first diagram. */
export function drawDiagramsWith(load: () => Promise<string>): void {
  loadScript = load;
}

/** True for a code block whose source is a diagram. */
export function isDiagram(language: string, source: string): boolean {
  return language.toLowerCase() === 'mermaid' && source.length <= MAX_SOURCE && source.trim() !== '';
}

/**
 * The source without its front matter and `%%{init: …}%%`: a diagram must not change how diagrams are drawn, such as
 * their limits and styles.
 */
function withoutConfiguration(source: string): string {
  const body = source.trimStart();
  const end = body.startsWith('---') ? /\n---[ \t]*(?:\n|$)/.exec(body) : null;
  const diagram = end ? body.slice(end.index + end[0].length) : source;
  return diagram
    .split('%%{')
    .map((part, index) => (index === 0 ? part : part.includes('}%%') ? part.slice(part.indexOf('}%%') + 3) : ''))
    .join('');
}

/**
 * Draws a Mermaid source. The picture is an image, so that nothing in it can run, load or imitate the panel.
 *
 * @throws Error if the source is not valid, or would take too long.
 */
export async function drawDiagram(source: string): Promise<HTMLImageElement> {
  if (failed.has(source)) throw failed.get(source);
  loaded ??= Promise.all([import('./diagram-frame.ts'), loadScript()]).then(
    ([{ DiagramFrame }, script]) => new DiagramFrame(script),
  );
  const frame = await loaded;
  const dark = !document.body.matches('.vscode-light, .vscode-high-contrast-light');
  const svg = await frame.draw(withoutConfiguration(source), dark).catch((error: unknown) => {
    if (failed.size >= MAX_FAILED) failed.clear();
    failed.set(source, error);
    throw error;
  });
  const image = document.createElement('img');
  image.alt = t('Diagram');
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  return image;
}
