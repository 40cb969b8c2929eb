/**
 * Moves the focus if the control that has it is removed or disabled. The browser then gives the keys to the page, where
 * they reach nothing, and a keyboard user must start again.
 *
 * @param next the element that gets the focus; `path` is the control and its ancestors, which may be removed too
 */
export function guardFocus(next: (path: readonly Element[]) => HTMLElement | null | undefined): void {
  let path: readonly Element[] = [];
  document.addEventListener('focusin', ({ target }) => {
    path = target instanceof Element ? ancestors(target) : [];
  });
  const changed = () => {
    const [last] = path;
    if (!last || (last.isConnected && !last.matches(':disabled'))) return;
    // Someone who selects text reads.
    if (!document.hasFocus() || document.activeElement !== document.body || !getSelection()?.isCollapsed) return;
    next(path)?.focus();
  };
  // After the explicit focus of the page's own code, which waits for a frame.
  new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(changed))).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['disabled'],
  });
}

function ancestors(element: Element): readonly Element[] {
  const path: Element[] = [];
  for (let at: Element | null = element; at && at !== document.body; at = at.parentElement) path.push(at);
  return path;
}
