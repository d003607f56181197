// What one call changed, while it is looked at in the conversation: the difference of its file, and how taking it back
// stands. Both come from the engine.
import { ask, failureOf, type Backend, type Failure } from '../protocol/backend';
import type { CallView } from '../protocol/generated/CallView';
import type { FileDiff } from '../protocol/generated/FileDiff';
import { standingOf, type Standing } from './changes.svelte';

export class CallChange {
  diff: FileDiff | null = $state.raw(null);
  standing: Standing | null = $state.raw(null);
  problem: Failure | null = $state.raw(null);
  readonly path: string;
  #call: string;
  #backend: Backend;
  #session: string;
  /** Answers of a look before the last one are late. */
  #look = 0;

  constructor(backend: Backend, session: string, call: CallView) {
    this.#backend = backend;
    this.#session = session;
    this.#call = call.id;
    this.path = (call.facts['path'] ?? '').replace(/^(\.\/)+/, '');
  }

  /** Reads both, or again what may have changed. */
  async load(): Promise<void> {
    const look = (this.#look += 1);
    const [session, call, path] = [this.#session, this.#call, this.path];
    try {
      const args = { session, path, turn: null, call };
      const diff = this.diff ?? (await ask(this.#backend, { name: 'diff', args }, 'diff'));
      const standing = await standingOf(this.#backend, session, { kind: 'call', call }, path);
      if (look !== this.#look) return;
      [this.diff, this.standing, this.problem] = [diff, standing, null];
    } catch (thrown) {
      if (look === this.#look) this.problem = failureOf(thrown);
    }
  }
}
