const FOCUSABLE = 'input, select, textarea, button, a[href], summary';

/**
 * Keeps the focus in the form. If the focused control is removed, the browser moves the focus to the page, where a
 * keyboard user must start again. Then the first control of the closest remaining section gets it.
 */
export function guardFocus(): void {
  let path: readonly Element[] = [];
  document.addEventListener('focusin', ({ target }) => {
    path = target instanceof Element ? ancestors(target) : [];
  });
  const removed = () => {
    const [last] = path;
    if (!last || last.isConnected || document.activeElement !== document.body) return;
    for (const section of path) {
      const next = section.isConnected ? section.querySelector<HTMLElement>(FOCUSABLE) : null;
      if (next) return next.focus();
    }
  };
  // After the explicit focus of the page's own code, which waits for a frame.
  new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(removed))).observe(document.body, {
    childList: true,
    subtree: true,
  });
}

function ancestors(element: Element): readonly Element[] {
  const path: Element[] = [];
  for (let at: Element | null = element; at && at !== document.body; at = at.parentElement) path.push(at);
  return path;
}
