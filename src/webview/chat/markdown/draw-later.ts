/** Distance from the viewport within which elements are rendered at once. */
const NEAR = '800px';

/**
 * Renders elements near the viewport at once and the others in idle time, so that a long conversation opens as fast as
 * a short one.
 */
export class DrawLater {
  readonly #waiting = new Map<Element, () => void>();
  #scheduled = false;
  readonly #near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.draw(target);
    },
    { rootMargin: NEAR },
  );

  /** Calls `draw` once, unless the returned function is called first. */
  add(element: Element, draw: () => void): () => void {
    this.#waiting.set(element, draw);
    this.#near.observe(element);
    this.#schedule();
    return () => this.#forget(element);
  }

  /** Draws an element now, if it still waits. */
  draw(element: Element): void {
    const draw = this.#waiting.get(element);
    this.#forget(element);
    draw?.();
  }

  #forget(element: Element): void {
    this.#near.unobserve(element);
    this.#waiting.delete(element);
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.size === 0) return;
    this.#scheduled = true;
    requestIdleCallback((deadline) => {
      this.#scheduled = false;
      // The newest elements are the most likely to be viewed next.
      const newest = [...this.#waiting.keys()].reverse();
      for (const element of newest) {
        this.draw(element);
        if (deadline.timeRemaining() < 8) break;
      }
      this.#schedule();
    });
  }
}
