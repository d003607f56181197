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

  /** May it be answered? */
  get armed(): boolean {
    return this.#armed;
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
    this.#wait(ARMING_MS);
  }

  /** Timers may come a little early; then the rest is waited for as well. */
  #wait(ms: number): void {
    this.#cancel = this.#timing.after(ms, () => {
      const left = this.#since + ARMING_MS - this.#timing.now();
      if (left > 0) this.#wait(Math.ceil(left));
      else this.#armed = true;
    });
  }
}
