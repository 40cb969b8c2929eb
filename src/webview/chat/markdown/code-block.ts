import { t } from '../../shared/words.ts';
import { highlightWhenIdle } from './highlight.ts';

const SHELLS = new Set(['sh', 'bash', 'zsh', 'shell', 'console', 'powershell', 'ps1', 'pwsh', 'cmd', 'bat', 'fish']);

/** Adds buttons to a `pre`. One listener of the page handles them: see `codeAction`. */
function codeBlock(pre: HTMLPreElement): HTMLElement {
  const language = pre.dataset.language ?? '';
  const block = document.createElement('div');
  block.className = 'code';
  block.dataset.language = language;
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

/** An empty block for a fence that is still streaming. */
export function openCodeBlock(language: string): { readonly block: HTMLElement; readonly code: HTMLElement } {
  const pre = document.createElement('pre');
  pre.dataset.language = language;
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
    place.replaceWith(codeBlock(pre));
    if (colour && code) highlightWhenIdle(code, pre.dataset.language ?? '');
  }
}

/** The action of a pressed button and the code of its block. */
export function codeAction(target: Element): { action: string; text: string; language: string } | undefined {
  const pressed = target.closest<HTMLElement>('button[data-code]');
  const block = pressed?.closest<HTMLElement>('.code');
  if (!pressed || !block) return undefined;
  const text = block.querySelector('pre')?.textContent ?? '';
  return { action: pressed.dataset.code ?? '', text, language: block.dataset.language ?? '' };
}
