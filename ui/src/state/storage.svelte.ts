// What is kept for undo, the limit, and letting old contents go.
import { ask, failureOf, type Backend, type Failure } from '../protocol/backend';
import type { Command } from '../protocol/generated/Command';
import type { StorageView } from '../protocol/generated/StorageView';
import type { ThinnedView } from '../protocol/generated/ThinnedView';

export class Keeping {
  value: StorageView | null = $state.raw(null);
  problem: Failure | null = $state.raw(null);
  /** Is anything being asked? */
  busy = $state(false);
  thinning = $state(false);
  /** What the last "Thin now" did, until the page is left or a limit is set. */
  thinned: Omit<ThinnedView, 'kept'> | null = $state.raw(null);
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
    this.thinning = true;
    await this.#try(async () => {
      const { kept, ...done } = await ask(this.#backend, { name: 'thin_now' }, 'thinned');
      this.value = kept;
      this.thinned = done;
    });
    this.thinning = false;
  }

  async #ask(command: Command): Promise<void> {
    await this.#try(async () => {
      this.value = await ask(this.#backend, command, 'storage');
    });
  }

  async #try(act: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await act();
      this.problem = null;
    } catch (thrown) {
      this.problem = failureOf(thrown);
    }
    this.busy = false;
  }
}
