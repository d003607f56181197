// What is kept for undo, the limit, and letting old contents go.
import { ask, failureOf, type Backend, type Failure } from '../protocol/backend';
import type { Command } from '../protocol/generated/Command';
import type { StorageView } from '../protocol/generated/StorageView';

export class Keeping {
  value: StorageView | null = $state.raw(null);
  problem: Failure | null = $state.raw(null);
  /** Is anything being asked? */
  busy = $state(false);
  thinning = $state(false);
  /** What the last "Thin now" did, until the page is left or a limit is set. */
  thinned: { turns: number; bytes: number } | null = $state.raw(null);
  #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  async load(): Promise<void> {
    this.thinned = null;
    await this.#ask({ name: 'storage' });
  }

  async limit(gigabytes: number): Promise<void> {
    this.thinned = null;
    await this.#ask({ name: 'set_undo_limit', args: { gigabytes } });
  }

  async thin(): Promise<void> {
    if (this.busy) return;
    const before = this.value;
    this.thinning = true;
    await this.#ask({ name: 'thin_now' });
    this.thinning = false;
    if (!before || !this.value || this.problem) return;
    const turns = this.value.thinned - before.thinned;
    this.thinned = { turns, bytes: Math.max(0, before.bytes - this.value.bytes) };
  }

  async #ask(command: Command): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      this.value = await ask(this.#backend, command, 'storage');
      this.problem = null;
    } catch (thrown) {
      this.problem = failureOf(thrown);
    }
    this.busy = false;
  }
}
