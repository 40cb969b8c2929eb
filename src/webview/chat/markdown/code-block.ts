import { t } from '../../shared/words.ts';
import { drawDiagram, isDiagram } from './diagram.ts';
import { highlightWhenIdle } from './highlight.ts';

const SHELLS = new Set(['sh', 'bash', 'zsh', 'shell', 'console', 'powershell', 'ps1', 'pwsh', 'cmd', 'bat', 'fish']);

/** A finished block with more lines is folded when it is drawn as a whole. */
const FOLDED_LINES = 40;

/** Adds buttons to a `pre`. One listener of the page handles them: see `codeAction`. */
function codeBlock(pre: HTMLPreElement): HTMLElement {
  const language = pre.dataset.language ?? '';
  const block = document.createElement('div');
  block.className = 'code';
  block.dataset.language = language;
  block.dataset.file = pre.dataset.file ?? '';
  const bar = document.createElement('div');
  bar.className = 'code-bar';
  const name = document.createElement('span');
  name.className = 'language';
  name.textContent = language;
  bar.append(name, button('copy', 'copy', t('Copy code')), button('insert', 'insert', t('Insert at cursor')));
  if (SHELLS.has(language.toLowerCase())) bar.append(button('terminal', 'terminal', t('Run in terminal')));
  else bar.append(button('diff', 'diff', t('Compare and apply')));
  bar.append(button('new-file', 'new-file', t('New file with this code')));
  // A long line scrolls inside its block, which must be possible with the keyboard.
  pre.tabIndex = 0;
  pre.setAttribute('role', 'region');
  pre.setAttribute('aria-label', language === '' ? t('Code') : t('Code, {0}', language));
  block.append(bar, pre);
  return block;
}

function button(action: string, icon: string, name: string): HTMLElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'icon';
  made.dataset.code = action;
  made.title = name;
  made.setAttribute('aria-label', name);
  const glyph = document.createElement('span');
  glyph.className = `codicon codicon-${icon}`;
  glyph.setAttribute('aria-hidden', 'true');
  made.append(glyph);
  return made;
}

/** Adds the button that shows and hides most of a long block. A block that the user watched growing stays open. */
export function foldLongBlock(block: HTMLElement, folded: boolean): void {
  const pre = block.querySelector('pre');
  const lines = (pre?.textContent ?? '').split('\n').length;
  if (lines <= FOLDED_LINES || block.querySelector('[data-code=fold]')) return;
  const toggle = button('fold', 'chevron-down', '');
  block.querySelector('.language')?.after(toggle);
  const more = document.createElement('button');
  more.type = 'button';
  more.className = 'show-all';
  more.dataset.code = 'fold';
  more.textContent = t('Show all {0} lines', lines);
  block.append(more);
  setFolded(block, folded);
}

/** Folds or unfolds a block. Its bar stays in sight, so that the button is always reachable. */
export function toggleFold(block: HTMLElement): void {
  const folding = !block.classList.contains('folded');
  setFolded(block, folding);
  if (folding) block.scrollIntoView({ block: 'nearest' });
}

function setFolded(block: HTMLElement, folded: boolean): void {
  block.classList.toggle('folded', folded);
  const toggle = block.querySelector<HTMLElement>('.code-bar [data-code=fold]');
  const name = folded ? t('Show all lines') : t('Show fewer lines');
  toggle?.setAttribute('aria-label', name);
  toggle?.setAttribute('aria-expanded', String(!folded));
  if (toggle) toggle.title = name;
  toggle?.querySelector('.codicon')?.setAttribute('class', `codicon codicon-chevron-${folded ? 'down' : 'up'}`);
}

/** Draws the diagram of a finished Mermaid block above its source. A source with a mistake stays as it is. */
export async function showDiagram(block: HTMLElement): Promise<void> {
  const source = block.querySelector('pre')?.textContent ?? '';
  if (!isDiagram(block.dataset.language ?? '', source) || block.querySelector('.diagram')) return;
  const frame = document.createElement('div');
  frame.className = 'diagram';
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', t('Diagram'));
  try {
    frame.append(await drawDiagram(source));
  } catch (error) {
    frame.className = 'diagram failed';
    frame.textContent = t('The diagram can’t be drawn: {0}', error instanceof Error ? error.message : String(error));
  }
  if (!block.querySelector('.diagram')) block.querySelector('.code-bar')?.after(frame);
}

/** An empty block for a fence that is still streaming. */
export function openCodeBlock(
  language: string,
  file: string,
): { readonly block: HTMLElement; readonly code: HTMLElement } {
  const pre = document.createElement('pre');
  pre.dataset.language = language;
  pre.dataset.file = file;
  const code = document.createElement('code');
  pre.append(code);
  return { block: codeBlock(pre), code };
}

/** Adds the toolbar to each code block of a fragment, and colours it later. */
export function dressCode(fragment: ParentNode, colour: boolean): void {
  for (const pre of fragment.querySelectorAll('pre')) {
    const code = pre.querySelector('code');
    const place = document.createComment('');
    pre.replaceWith(place);
    const block = codeBlock(pre);
    place.replaceWith(block);
    if (colour) foldLongBlock(block, true);
    if (colour && code) highlightWhenIdle(code, pre.dataset.language ?? '');
  }
}

/** The action of a pressed button and the code of its block. */
export function codeAction(
  target: Element,
): { action: string; text: string; language: string; file: string; block: HTMLElement } | undefined {
  const pressed = target.closest<HTMLElement>('button[data-code]');
  const block = pressed?.closest<HTMLElement>('.code');
  if (!pressed || !block) return undefined;
  const text = block.querySelector('pre')?.textContent ?? '';
  const { language = '', file = '' } = block.dataset;
  return { action: pressed.dataset.code ?? '', text, language, file, block };
}
