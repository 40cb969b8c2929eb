/** Attempts of one request at several upstreams. The first one with output answers, and the others end. */
export class Race {
  readonly #entrants: Entrant[] = [];
  /** An attempt has begun to answer. */
  won = false;

  enter(): Entrant {
    const entrant = new Entrant(() => this.#end(entrant));
    this.#entrants.push(entrant);
    return entrant;
  }

  #end(winner: Entrant): void {
    this.won = true;
    for (const entrant of this.#entrants) if (entrant !== winner) entrant.lose();
  }
}

/** An attempt in a race. */
export class Entrant {
  readonly #claim: () => void;
  #stop: (() => void) | undefined;
  /** Another attempt answers. */
  lost = false;

  constructor(claim: () => void) {
    this.#claim = claim;
  }

  /** To be called before the first byte to the client. The other attempts have stopped when it returns. */
  claim(): void {
    this.#claim();
  }

  /** Sets the function that stops the attempt without output to the client. */
  onLost(stop: () => void): void {
    this.#stop = stop;
  }

  lose(): void {
    this.lost = true;
    this.#stop?.();
  }
}
