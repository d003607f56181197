// What a session changed, turn by turn; the file that is looked at, with its differences; and what is known of taking it
// back.
//
// Nothing is decided here: what a return would do, what somebody changed since and how it ended come from the engine.
import { ask, failureOf, tell, type Backend, type Failure } from '../protocol/backend';
import type { FileChange } from '../protocol/generated/FileChange';
import type { FileDiff } from '../protocol/generated/FileDiff';
import type { Made } from '../protocol/generated/Made';
import type { ThreeWay } from '../protocol/generated/ThreeWay';
import type { TurnChanges } from '../protocol/generated/TurnChanges';
import type { UndoOf } from '../protocol/generated/UndoOf';

/** A file in one turn. */
export interface Chosen {
  turn: string;
  path: string;
}

/**
 * What taking one file back would do: it is `ready`, it is as it was `already`, only Daybook's part can go (`apart`), both
 * changed the same lines (`mixed`), or something else is in the way (`blocked`, with its code).
 */
export type Standing =
  | { kind: 'ready' }
  | { kind: 'already' }
  | { kind: 'apart'; sides: ThreeWay }
  | { kind: 'mixed'; sides: ThreeWay }
  | { kind: 'blocked'; why: string };

export class Changes {
  files: FileChange[] = $state.raw([]);
  turns: TurnChanges[] = $state.raw([]);
  made: Made[] = $state.raw([]);
  selected: Chosen | null = $state.raw(null);
  diff: FileDiff | null = $state.raw(null);
  standing: Standing | null = $state.raw(null);
  loaded = $state(false);
  problem: Failure | null = $state.raw(null);
  added = $derived(sum(this.files, (file) => file.added));
  removed = $derived(sum(this.files, (file) => file.removed));
  /** The files of all turns in the order they are listed. */
  rows: readonly (Chosen & { file: FileChange })[] = $derived(
    this.turns.flatMap(({ turn, files }) => files.map((file) => ({ turn, path: file.path, file }))),
  );
  current: FileChange | null = $derived(this.rows.find((row) => same(row, this.selected))?.file ?? null);
  /** How many files of all turns were taken back, and how many turns still changed something. */
  undone: number = $derived(
    distinct(
      this.turns.flatMap((turn) =>
        turn.files
          .map(({ path }) => path)
          .filter((path) => !this.#standing.has(path) && this.isUndone(turn, path)),
      ),
    ),
  );
  standingTurns: number = $derived(
    this.turns.filter((turn) => turn.files.some(({ path }) => !this.isUndone(turn, path))).length,
  );
  /** The newest turn that isn't taken back. */
  latest: TurnChanges | null = $derived(
    this.turns.find((turn) => !turn.undone && turn.files.length > 0) ?? null,
  );
  #backend: Backend;
  #session: string;
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  #standing = $derived(new Set(this.files.map((file) => file.path)));
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  #since = $derived(new Set(this.files.filter((file) => file.changed_since).map((file) => file.path)));

  constructor(backend: Backend, session: string) {
    this.#backend = backend;
    this.#session = session;
  }

  /** Was a file changed after the session's last change to it, by somebody else? */
  changedSince(path: string): boolean {
    return this.#since.has(path);
  }

  /** The number of the latest later turn that changed a file of this turn too; null where there is none. */
  changedLater(turn: string, path: string): number | null {
    const at = this.turns.findIndex((one) => one.turn === turn);
    const later = this.turns.slice(0, Math.max(at, 0));
    return later.find((one) => !one.undone && one.files.some((file) => file.path === path))?.number ?? null;
  }

  /** Was a turn's change of a file taken back? */
  isUndone({ files }: TurnChanges, path: string): boolean {
    return files.some((file) => file.path === path && file.undone);
  }

  /** Does the chosen file differ from what its turn left only by parts of it that were taken back? */
  get onlyParts(): boolean {
    const { selected, standing, diff } = this;
    if (!selected || standing?.kind !== 'apart' || !diff?.hunks.some((hunk) => hunk.undone)) return false;
    return !this.changedSince(selected.path) && this.changedLater(selected.turn, selected.path) === null;
  }

  /** The newest difference of something that was made: of the file, or of the first file in the folder. */
  rowOf({ path, files }: Made): Chosen | null {
    const found = this.rows.find((row) => (files > 0 ? row.path.startsWith(`${path}/`) : row.path === path));
    return found ? { turn: found.turn, path: found.path } : null;
  }

  /** Shows something that was made in the system's own view of folders. */
  async show({ id }: Made): Promise<void> {
    const args = { session: this.#session, made: id };
    await this.#attempt(() => tell(this.#backend, { name: 'show_made', args }));
  }

  turnOf(turn: string): TurnChanges | null {
    return this.turns.find((one) => one.turn === turn) ?? null;
  }

  isSelected(turn: string, path: string): boolean {
    return same({ turn, path }, this.selected);
  }

  /** Reads the list again, and what is known of the chosen file with it. */
  async load(): Promise<void> {
    await this.#attempt(async () => {
      const changes = await ask(
        this.#backend,
        { name: 'changes', args: { session: this.#session } },
        'changes',
      );
      this.files = changes.files;
      this.turns = changes.turns;
      this.made = changes.made;
      this.loaded = true;
      if (this.selected && !this.rows.some((row) => same(row, this.selected))) this.#clear(null);
      if (this.selected) await this.#look(this.selected);
    });
  }

  async select(turn: string, path: string): Promise<void> {
    if (!same({ turn, path }, this.selected)) this.#clear({ turn, path });
    await this.#attempt(() => this.#look({ turn, path }));
  }

  /** The next or previous file, staying at the ends. */
  async step(by: number): Promise<void> {
    const at = this.rows.findIndex((row) => same(row, this.selected));
    const next = this.rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), this.rows.length - 1)];
    if (next && !same(next, this.selected)) await this.select(next.turn, next.path);
  }

  #clear(selected: Chosen | null): void {
    this.selected = selected;
    this.diff = null;
    this.standing = null;
  }

  async #look(chosen: Chosen): Promise<void> {
    const args = { session: this.#session, path: chosen.path, turn: chosen.turn, call: null };
    const [diff, standing] = await Promise.all([
      ask(this.#backend, { name: 'diff', args }, 'diff'),
      standingOf(this.#backend, this.#session, { kind: 'turn', turn: chosen.turn }, chosen.path),
    ]);
    // A slower answer about another file must not replace what is looked at now.
    if (!same(chosen, this.selected)) return;
    this.diff = diff;
    this.standing = standing;
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

/** What taking one file of a scope back would do now. */
export async function standingOf(
  backend: Backend,
  session: string,
  of: UndoOf,
  path: string,
): Promise<Standing> {
  const args = { session, of, paths: [path] };
  const { files, kept } = await ask(backend, { name: 'preview_undo', args }, 'undo_preview');
  const [held] = kept;
  if (!held) return files.length > 0 ? { kind: 'ready' } : { kind: 'already' };
  if (held.why !== 'changed') return { kind: 'blocked', why: held.why };
  const sides = await ask(backend, { name: 'three_way', args: { session, of, path } }, 'three_way');
  return sides.merged ? { kind: 'apart', sides } : { kind: 'mixed', sides };
}

function same(one: Chosen, other: Chosen | null): boolean {
  return one.turn === other?.turn && one.path === other.path;
}

function sum(files: readonly FileChange[], lines: (file: FileChange) => number | null): number {
  return files.reduce((total, file) => total + (lines(file) ?? 0), 0);
}

function distinct(paths: readonly string[]): number {
  return new Set(paths).size;
}
