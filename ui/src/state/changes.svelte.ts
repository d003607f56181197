// Files a session changed, and the differences of the one that is looked at.
import { ask, failureOf, type Backend, type Failure } from '../protocol/backend';
import type { FileChange } from '../protocol/generated/FileChange';
import type { FileDiff } from '../protocol/generated/FileDiff';

export class Changes {
  files: FileChange[] = $state.raw([]);
  selected: string | null = $state(null);
  diff: FileDiff | null = $state.raw(null);
  loaded = $state(false);
  problem: Failure | null = $state.raw(null);
  added = $derived(sum(this.files, (file) => file.added));
  removed = $derived(sum(this.files, (file) => file.removed));
  current: FileChange | null = $derived(this.files.find((file) => file.path === this.selected) ?? null);
  #backend: Backend;
  #session: string;

  constructor(backend: Backend, session: string) {
    this.#backend = backend;
    this.#session = session;
  }

  /** Reads the list again, and the differences of the chosen file with it. */
  async load(): Promise<void> {
    await this.#attempt(async () => {
      const changes = await ask(this.#backend, { name: 'changes', args: { session: this.#session } }, 'changes');
      this.files = changes.files;
      this.loaded = true;
      if (this.selected !== null && !this.files.some((file) => file.path === this.selected)) {
        this.selected = null;
        this.diff = null;
      }
      if (this.selected !== null) await this.#loadDiff(this.selected);
    });
  }

  async select(path: string): Promise<void> {
    this.selected = path;
    if (this.diff?.path !== path) this.diff = null;
    await this.#attempt(() => this.#loadDiff(path));
  }

  /** The next or previous file, staying at the ends. */
  async step(by: number): Promise<void> {
    const at = this.files.findIndex((file) => file.path === this.selected);
    const next = this.files[at < 0 ? 0 : Math.min(Math.max(at + by, 0), this.files.length - 1)];
    if (next && next.path !== this.selected) await this.select(next.path);
  }

  async #loadDiff(path: string): Promise<void> {
    const args = { session: this.#session, path, turn: null };
    const diff = await ask(this.#backend, { name: 'diff', args }, 'diff');
    // A slower answer about another file must not replace what is looked at now.
    if (this.selected === path) this.diff = diff;
  }

  async #attempt(run: () => Promise<void>): Promise<void> {
    try {
      await run();
      this.problem = null;
    } catch (thrown) {
      this.problem = failureOf(thrown);
    }
  }
}

function sum(files: readonly FileChange[], lines: (file: FileChange) => number | null): number {
  return files.reduce((total, file) => total + (lines(file) ?? 0), 0);
}
