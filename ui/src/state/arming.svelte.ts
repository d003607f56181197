// A request can be answered only after it stood still for a moment.
//
// Clicks and keys are ignored for 600 ms after a request appears or moves up the queue, so nobody approves what slid
// under the pointer. The moment is measured on a clock that is passed in.

/** How long a request stands before it can be answered. */
export const ARMING_MS = 600;

export interface Timing {
  now(): number;
  /** Runs later; returns the way to take it back. */
  after(ms: number, run: () => void): () => void;
}

export const browserTiming: Timing = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export class Arming {
  #timing: Timing;
  #armed = $state(false);
  #place: string | null = null;
  #since = 0;
  #cancel: (() => void) | null = null;

  constructor(timing: Timing = browserTiming) {
    this.#timing = timing;
  }

  /** Says where the request stands now; a new request or a new place begins the wait again. */
  at(request: string, place: number): void {
    const key = `${request} ${place}`;
    if (key === this.#place) return;
    this.#place = key;
    this.#begin();
  }

  /** May it be answered? Asks the clock too, so a late timer can't let a click through early. */
  get armed(): boolean {
    return this.#armed && this.#timing.now() - this.#since >= ARMING_MS;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#place = null;
    this.#armed = false;
  }

  #begin(): void {
    this.#cancel?.();
    this.#armed = false;
    this.#since = this.#timing.now();
    this.#cancel = this.#timing.after(ARMING_MS, () => {
      this.#armed = true;
    });
  }
}
