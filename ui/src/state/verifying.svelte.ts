// Verifying a record: begun by itself when the record is looked at, told by counts while it runs, stopped when nobody looks.
//
// Invariant: the seal says what the engine found and up to which event, never what is only hoped for.
import { ask, failureOf, type Backend, type Failure } from '../protocol/backend';
import type { Verification } from '../protocol/generated/Verification';

/** Milliseconds between two looks at one that runs. */
const LOOK_MS = 250;

export class Verifying {
  now: Verification | null = $state.raw(null);
  problem: Failure | null = $state.raw(null);
  /** When the last one was done, UTC ms. */
  doneAt: number | null = $state.raw(null);
  running = $derived.by(() => this.now?.state === 'running');
  #backend: Backend;
  #session: string;
  #clock: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Does nobody look? */
  #closed = false;
  /** Was it stopped because nobody looked, and not by the person? */
  #left = false;
  #asked = 0;

  constructor(backend: Backend, session: string, clock: () => number) {
    this.#backend = backend;
    this.#session = session;
    this.#clock = clock;
  }

  /** Looks at what is known, and begins where nobody has looked yet, or looked away before it was done. */
  async open(): Promise<void> {
    this.#closed = false;
    if (this.#left) return this.begin();
    await this.#ask('verification');
    if (this.now?.state === 'none' && !this.#closed) await this.begin();
  }

  begin(): Promise<void> {
    this.#left = false;
    return this.#ask('verify');
  }

  stop(): Promise<void> {
    return this.#ask('stop_verify');
  }

  /** Nobody looks any more: what runs is stopped. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.running) this.#leave();
  }

  async #ask(name: 'verify' | 'verification' | 'stop_verify'): Promise<void> {
    clearTimeout(this.#timer);
    const asked = (this.#asked += 1);
    try {
      const found = await ask(this.#backend, { name, args: { session: this.#session } }, 'verification');
      // Something else was wanted meanwhile.
      if (asked !== this.#asked) return;
      this.now = found;
      this.doneAt = found.ago === null ? null : this.#clock() - found.ago;
      this.problem = null;
    } catch (thrown) {
      if (asked !== this.#asked) return;
      this.problem = failureOf(thrown);
    }
    if (!this.running) return;
    if (!this.#closed) this.#timer = setTimeout(() => void this.#ask('verification'), LOOK_MS);
    // Whoever asked looked away before the answer came.
    else if (name !== 'stop_verify') this.#leave();
  }

  #leave(): void {
    this.#left = true;
    void this.stop();
  }
}
