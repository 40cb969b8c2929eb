import { t } from '../../shared/words.ts';
import { dressCode } from './code-block.ts';

/** Blocks whose direction follows their own text. */
const TEXT_BLOCKS = 'p, li, h1, h2, h3, h4, h5, h6, blockquote, td, th';

/**
 * Completes the sanitized HTML of an answer: toolbars of code blocks, tables that scroll with the keyboard, names of
 * task boxes, and the direction of each block.
 */
export function dress(fragment: ParentNode, colour: boolean): void {
  dressCode(fragment, colour);
  for (const block of fragment.querySelectorAll(TEXT_BLOCKS)) block.setAttribute('dir', 'auto');
  for (const table of fragment.querySelectorAll('table')) dressTable(table);
  for (const box of fragment.querySelectorAll<HTMLInputElement>('li input[type=checkbox]')) {
    box.setAttribute('aria-label', taskName(box));
  }
}

function dressTable(table: HTMLTableElement): void {
  const frame = document.createElement('div');
  frame.className = 'table';
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', t('Table'));
  table.replaceWith(frame);
  frame.append(table);
}

/** The first line of the task's text. */
function taskName(box: HTMLInputElement): string {
  const text = box.closest('li')?.textContent ?? '';
  return text.trim().split('\n', 1)[0] ?? '';
}
