// Taking changes back: asked for here, done by the engine, told by an entry of the conversation.
//
// A **return** goes ahead at once where nothing is in its way. Where it is about a whole session, or would leave a file
// alone, a plan is shown first and the person decides. Invariant: a file that somebody changed since is only brought back
// when the person named it.
import { ask, failureOf, tell, type Backend, type Failure } from '../protocol/backend';
import type { KeptFile } from '../protocol/generated/KeptFile';
import type { NotCovered } from '../protocol/generated/NotCovered';
import type { UndoneFile } from '../protocol/generated/UndoneFile';
import type { UndoOf } from '../protocol/generated/UndoOf';
import type { UndoView } from '../protocol/generated/UndoView';
import { hasEnded } from '../protocol/jobs';
import type { SessionFold } from './session.svelte';

/** Files whose sides are asked for, to say whether a change can be told apart. */
const ASKED = 20;
/** Files the engine lists one by one. */
const LISTED = 500;
/** How long the news of a return stays, in milliseconds. */
export const NEWS_MS = 8_000;

/** What a return would do, shown before it is decided. */
export interface Plan {
  of: UndoOf;
  paths: readonly string[];
  /** How many go back: those listed, and more where they are many. */
  count: number;
  files: readonly UndoneFile[];
  /** Changed since, but Daybook's part can go alone. */
  apart: readonly string[];
  /** Left alone, unless named. */
  kept: readonly KeptFile[];
  /** Code of what isn't known about the changes. */
  doubt: string | null;
  /** What was changed besides and stays, since undo doesn't cover it. */
  notCovered: NotCovered | null;
}

export type News =
  | { kind: 'done'; undo: UndoView }
  | { kind: 'failed'; failure: Failure }
  | { kind: 'nothing' }
  | { kind: 'hindered'; why: Hindrance };

/** Why nothing can be taken back now. */
export type Hindrance = 'working' | 'undoing' | 'read_only' | 'job';

/** What stands in the way of taking changes of a session back, if anything does. */
export function hindranceOf(fold: SessionFold): Hindrance | null {
  if (fold.readOnly !== null) return 'read_only';
  if (fold.undos.some((undo) => undo.state === 'working')) return 'undoing';
  // What waits for the person may outlive its turn.
  const works = fold.activity.kind !== 'idle' && !(fold.activity.kind === 'needs_you' && turnEnded(fold));
  if (works) return 'working';
  return fold.jobs.some((job) => !hasEnded(job)) ? 'job' : null;
}

/** The last return, still standing and with its way back, that took a file of a turn back. */
export function lastOf(
  undos: readonly UndoView[],
  { turn, path }: { turn: string; path: string },
): string | null {
  const of = (undo: UndoView) =>
    undo.of.kind === 'session' ||
    (undo.of.kind === 'turn' && undo.of.turn === turn) ||
    undo.of.kind === 'since' ||
    undo.of.kind === 'call';
  const took = undos.findLast(
    (undo) =>
      undo.state === 'done' &&
      !undo.undone &&
      undo.thinned === null &&
      of(undo) &&
      undo.files.some((file) => file.path === path),
  );
  return took?.id ?? null;
}

function turnEnded(fold: SessionFold): boolean {
  const last = fold.cells.findLast(({ body }) => ['turn_end', 'said', 'answer', 'calls'].includes(body.kind));
  return last?.body.kind === 'turn_end';
}

export class Undoing {
  plan: Plan | null = $state.raw(null);
  news: News | null = $state.raw(null);
  /** Is something asked of the engine right now? */
  asking = $state(false);
  #backend: Backend;
  #session: string;
  /** Returns asked for here that haven't been told yet. */
  #awaited = 0;
  // An index, not state: nothing on screen reads it.
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  #seen = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #held = false;

  constructor(backend: Backend, session: string) {
    this.#backend = backend;
    this.#session = session;
  }

  /** Wants a scope taken back: done at once where nothing is in its way, else shown first. */
  async want(of: UndoOf, paths: readonly string[] = []): Promise<void> {
    await this.#attempt(async () => {
      const plan = await this.#planOf(of, paths);
      if (plan.count + plan.kept.length === 0) this.#tell({ kind: 'nothing' });
      else if (of.kind === 'session' || plan.kept.length > 0) this.plan = plan;
      else await this.#undo(of, paths, []);
    });
  }

  /** Takes one part of a file's difference back, at once: what can't be told apart is refused with the reason. */
  async part(turn: string, path: string, part: string): Promise<void> {
    await this.#attempt(() => this.#undo({ kind: 'part', turn, part }, [path], []));
  }

  /** Brings back what a return took, or takes it back again. */
  async redo(undo: string, paths: readonly string[] = []): Promise<void> {
    await this.want({ kind: 'undo', undo }, paths);
  }

  /** Goes ahead with the plan, and brings the named files back too. */
  async confirm(overwrite: readonly string[]): Promise<void> {
    const plan = this.plan;
    if (!plan) return;
    const named = plan.kept.filter((file) => overwrite.includes(file.path));
    await this.#attempt(() => this.#undo(plan.of, plan.paths, named));
    this.plan = null;
  }

  /** Goes on in the folder that is at the session's path now: the person says that it is the session's. */
  async useFolder(): Promise<void> {
    await this.#attempt(async () => {
      await tell(this.#backend, { name: 'use_folder', args: { session: this.#session } });
      this.closeNews();
    });
  }

  dismiss(): void {
    this.plan = null;
  }

  /** An entry of a return as it stands now. */
  saw(undo: UndoView): void {
    if (undo.state === 'working' || this.#seen.has(undo.id)) return;
    this.#seen.add(undo.id);
    if (this.#awaited === 0) return;
    this.#awaited -= 1;
    if (undo.state === 'done') this.#tell({ kind: 'done', undo });
  }

  /** Returns that were there before the session was opened are no news. */
  knows(undos: readonly UndoView[]): void {
    for (const undo of undos) if (undo.state !== 'working') this.#seen.add(undo.id);
  }

  say(news: News): void {
    this.#tell(news);
  }

  closeNews(): void {
    clearTimeout(this.#timer);
    this.news = null;
  }

  /** While the person is at it, it stays. */
  hold(on: boolean): void {
    if (on === this.#held) return;
    this.#held = on;
    clearTimeout(this.#timer);
    if (!on) this.#wait();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #tell(news: News): void {
    this.news = news;
    this.#held = false;
    clearTimeout(this.#timer);
    this.#wait();
  }

  #wait(): void {
    // A failure stays until it is read.
    if (this.#held || this.news === null || this.news.kind === 'failed') return;
    this.#timer = setTimeout(() => (this.news = null), NEWS_MS);
  }

  async #planOf(of: UndoOf, paths: readonly string[]): Promise<Plan> {
    const args = { session: this.#session, of, paths: [...paths] };
    const preview = await ask(this.#backend, { name: 'preview_undo', args }, 'undo_preview');
    const changed = preview.kept.filter((file) => file.why === 'changed').slice(0, ASKED);
    const apart = await Promise.all(
      changed.map(async ({ path }) => ((await this.#isApart(of, path)) ? [path] : [])),
    );
    const own = apart.flat();
    const kept = preview.kept.filter((file) => !own.includes(file.path));
    // Lists are cut where they are long; what is counted then are all that aren't left alone.
    const listed = preview.files.length < LISTED ? preview.files.length : preview.count - preview.kept.length;
    const count = listed + own.length;
    const { files, doubt, not_covered: notCovered } = preview;
    return { of, paths, count, files, apart: own, kept, doubt, notCovered };
  }

  async #isApart(of: UndoOf, path: string): Promise<boolean> {
    const sides = await ask(
      this.#backend,
      { name: 'three_way', args: { session: this.#session, of, path } },
      'three_way',
    );
    return sides.merged !== null;
  }

  async #undo(of: UndoOf, paths: readonly string[], named: readonly KeptFile[]): Promise<void> {
    this.#awaited += 1;
    try {
      const overwrite = named.map((file) => file.path);
      // A yes to what was shown: where something else stands there by now, nothing is done.
      const shown = named.flatMap(({ path, now }) => (now === null ? [] : [[path, now] as const]));
      const seen = Object.fromEntries(shown);
      const args = { session: this.#session, of, paths: [...paths], overwrite, seen };
      await tell(this.#backend, { name: 'undo', args });
    } catch (thrown) {
      this.#awaited -= 1;
      throw thrown;
    }
  }

  async #attempt(run: () => Promise<void>): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      await run();
    } catch (thrown) {
      this.#tell({ kind: 'failed', failure: failureOf(thrown) });
    } finally {
      this.asking = false;
    }
  }
}
