// The stand-in's folder: what stands in it now, what each turn of a session changed, and what was taken back.
//
// It keeps the engine's promises: what somebody changed since is merged where that is clean and otherwise left alone,
// unless it is named; what a return did can be taken back as well.
import type { Changes } from '../generated/Changes';
import type { FileChange } from '../generated/FileChange';
import type { FileDiff } from '../generated/FileDiff';
import type { Made } from '../generated/Made';
import type { ThreeWay } from '../generated/ThreeWay';
import type { TurnChanges } from '../generated/TurnChanges';
import type { UndoOf } from '../generated/UndoOf';
import type { UndoPreview } from '../generated/UndoPreview';
import type { UndoView } from '../generated/UndoView';
import { compare, counted, merge, without } from './compare';

/** What stands at a path: content, or where a link points. */
export interface Standing {
  text: string;
  kind?: 'file' | 'link' | 'folder';
  mode?: number;
}
type Stand = Standing | null;
interface Effect {
  path: string;
  before: Stand;
  after: Stand;
}
type By = { turn: string; call: string | null } | { undo: string; of: UndoOf };
interface Done {
  by: By;
  effects: Effect[];
}

export class FakeFolder {
  readonly #now = new Map<string, Standing>();
  readonly #turns: Pick<TurnChanges, 'turn' | 'title' | 'time'>[] = [];
  readonly #done: Done[] = [];
  /** What isn't known about a turn's changes. */
  readonly doubts = new Map<string, string>();

  /** Somebody changes something: the person, or whatever else runs there. */
  put(path: string, stand: Stand | string): void {
    const value = typeof stand === 'string' ? { text: stand } : stand;
    if (value) this.#now.set(path, value);
    else this.#now.delete(path);
  }

  has(path: string): boolean {
    return this.#now.has(path);
  }

  /** The newest turn. */
  get turn(): string | undefined {
    return this.#turns.at(-1)?.turn;
  }

  /** A turn begins. */
  begin(turn: string, title: string, time: number): void {
    this.#turns.push({ turn, title, time });
  }

  /** The newest turn changes something, with a call. */
  change(path: string, stand: Stand | string, call: string | null = null): void {
    const turn = this.#turns.at(-1)?.turn ?? '';
    const before = this.#now.get(path) ?? null;
    this.put(path, stand);
    this.#done.push({ by: { turn, call }, effects: [{ path, before, after: this.#now.get(path) ?? null }] });
  }

  changes(): Changes {
    const turns = this.#turns.map(({ turn, title, time }, n) => {
      const gone = this.#undone(turn);
      const files = this.#files({ kind: 'turn', turn }).map((file) => ({
        ...file,
        undone: gone.has(file.path),
      }));
      const undone = files.every((file) => file.undone);
      const doubt = this.doubts.get(turn) ?? null;
      return { turn, number: n + 1, title, time, files, undone, doubt, not_covered: null, thinned: null };
    });
    return {
      files: this.#files({ kind: 'session' }),
      made: this.#made(),
      turns: turns.filter((one) => one.files.length > 0).reverse(),
    };
  }

  #made(): Made[] {
    const fresh = this.#net({ kind: 'session' }, []).filter(
      ({ path, before, after }) => before === null && after?.kind !== 'folder' && this.#now.has(path),
    );
    return fresh.map(({ path }) => ({ id: `made_${path}`, path, files: 0 }));
  }

  diff(path: string, turn: string | null): FileDiff {
    const [effect] = this.#net(turn === null ? { kind: 'session' } : { kind: 'turn', turn }, [path]);
    const diff = compare(path, textOf(effect?.before), textOf(effect?.after));
    if (!effect?.before || effect.after === null || (effect.after.kind ?? 'file') !== 'file') return diff;
    const [now, before, after] = [this.#now.get(path) ?? null, effect.before, effect.after];
    const gone = this.#partsGone(path);
    for (const [n, hunk] of diff.hunks.entries()) {
      hunk.part = partOf(path, turn, n);
      hunk.undone = same(now, before) || (!same(now, after) && gone.has(hunk.part));
    }
    return diff;
  }

  /** The difference of the file that a call changed; null where it didn't change it. */
  callDiff(call: string, path: string): FileDiff | null {
    const [effect] = this.#net({ kind: 'call', call }, [path]);
    return effect ? compare(effect.path, textOf(effect.before), textOf(effect.after)) : null;
  }

  /** What taking one part back leaves in the file; null where it can't be told apart, or is gone already. */
  #withoutPart(of: Extract<UndoOf, { kind: 'part' }>, path: string): { effect: Effect; text: string } | null {
    const [effect] = this.#net(of, [path]);
    const [now, before, after] = [this.#now.get(path), effect?.before?.text, effect?.after?.text];
    if (!effect || !now || before === undefined || after === undefined) return null;
    const { hunks } = this.diff(path, of.turn);
    const at = hunks.findIndex((hunk) => hunk.part === of.part);
    if (at < 0) return null;
    const gone = hunks.flatMap((hunk, n) => (hunk.undone && n !== at ? [n] : []));
    const base = without(before, after, hunks, gone);
    const wanted = without(before, after, hunks, [...gone, at]);
    const text = now.text === base ? wanted : merge(base, wanted, now.text);
    return text === null || text === now.text ? null : { effect, text };
  }

  /** Parts that were taken back and not brought again. */
  #partsGone(path: string): Set<string> {
    const gone = new Set<string>();
    const by = new Map<string, { part: string; taken: boolean }>();
    for (const done of this.#done) {
      if (!('undo' in done.by) || !done.effects.some((effect) => effect.path === path)) continue;
      const { undo, of } = done.by;
      const back = of.kind === 'undo' ? by.get(of.undo) : undefined;
      const one =
        of.kind === 'part' ? { part: of.part, taken: true } : back && { ...back, taken: !back.taken };
      if (!one) continue;
      by.set(undo, one);
      if (one.taken) gone.add(one.part);
      else gone.delete(one.part);
    }
    return gone;
  }

  preview(of: UndoOf, paths: readonly string[]): UndoPreview {
    const net = this.#net(of, paths);
    const doubt = of.kind === 'turn' ? this.doubts.get(of.turn) : [...this.doubts.values()].at(-1);
    const out: UndoPreview = {
      files: [],
      kept: [],
      count: net.length,
      doubt: doubt ?? null,
      not_covered: null,
    };
    for (const effect of net) {
      const now = this.#now.get(effect.path) ?? null;
      if (same(now, effect.before)) continue;
      if (same(now, effect.after)) out.files.push({ path: effect.path, what: whatOf(effect), parted: null });
      else
        out.kept.push({
          path: effect.path,
          why: 'changed',
          anyway: whatOf(effect),
          now: `as shown: ${effect.path}`,
        });
    }
    return out;
  }

  threeWay(of: UndoOf, path: string): ThreeWay | null {
    const [effect] = this.#net(of, [path]);
    if (!effect) return null;
    const now = this.#now.get(path) ?? null;
    const merged = mergedOf(effect, now);
    return {
      path,
      ours: compare(path, textOf(effect.before), textOf(effect.after)),
      theirs: compare(path, textOf(effect.after), textOf(now)),
      merged: merged === null ? null : compare(path, textOf(now), merged),
    };
  }

  /** Takes a scope back and says what it did and what it left alone. */
  undo(id: string, of: UndoOf, paths: readonly string[], overwrite: readonly string[]): UndoView {
    const effects: Effect[] = [];
    const kept: UndoView['kept'] = [];
    const part = of.kind === 'part' ? this.#withoutPart(of, paths[0] ?? '') : null;
    if (part) {
      const before = this.#now.get(part.effect.path) ?? null;
      this.put(part.effect.path, { ...before, text: part.text });
      effects.push({ path: part.effect.path, before, after: this.#now.get(part.effect.path) ?? null });
    }
    for (const effect of of.kind === 'part' ? [] : this.#net(of, paths)) {
      const now = this.#now.get(effect.path) ?? null;
      if (same(now, effect.before)) continue;
      const clean = same(now, effect.after) || overwrite.includes(effect.path);
      const merged = clean ? null : mergedOf(effect, now);
      if (!clean && merged === null) {
        kept.push({ path: effect.path, why: 'changed', anyway: null, now: null });
        continue;
      }
      this.put(effect.path, merged === null ? effect.before : { ...now, text: merged });
      effects.push({ path: effect.path, before: now, after: this.#now.get(effect.path) ?? null });
    }
    this.#done.push({ by: { undo: id, of }, effects });
    const files = effects.map((effect) => ({
      path: effect.path,
      what: whatOf(turned(effect)),
      parted: null,
    }));
    const rest = {
      state: 'done',
      count: files.length,
      kept_more: 0,
      error: null,
      held: false,
      undone: false,
      thinned: null,
    };
    return { id, of, files, kept, ...rest };
  }

  /** Can this part not be taken back alone? */
  isMixed(of: UndoOf, paths: readonly string[]): boolean {
    return of.kind === 'part' && this.#withoutPart(of, paths[0] ?? '') === null;
  }

  isEmpty(of: UndoOf, paths: readonly string[]): boolean {
    return this.#net(of, paths).length === 0;
  }

  #files(of: UndoOf): FileChange[] {
    return this.#net(of, []).map((effect) => {
      const { path, before, after } = effect;
      const lines = counted(compare(path, textOf(before), textOf(after)));
      const now = this.#now.get(path) ?? null;
      const change =
        before === null
          ? 'created'
          : after === null
            ? 'deleted'
            : before.text === after.text
              ? 'mode'
              : 'edited';
      const kind = (after ?? before)?.kind ?? 'file';
      return {
        path,
        change,
        kind,
        ...lines,
        changed_since: !same(now, after) && !same(now, before),
        undone: false,
      };
    });
  }

  #net(of: UndoOf, paths: readonly string[]): Effect[] {
    const order = (turn: string) => this.#turns.findIndex((one) => one.turn === turn);
    const wanted = this.#done.filter(({ by }) => {
      if (of.kind === 'session') return true;
      if (of.kind === 'undo') return 'undo' in by && by.undo === of.undo;
      if (of.kind === 'call') return 'call' in by && by.call === of.call;
      if (of.kind === 'part' && of.turn === null) return true;
      if (of.kind === 'turn' || of.kind === 'part') return 'turn' in by && by.turn === of.turn;
      return of.kind === 'since' && (!('turn' in by) || order(by.turn) >= order(of.turn));
    });
    const net = new Map<string, Effect>();
    for (const effect of wanted.flatMap((done) => done.effects)) {
      const first = net.get(effect.path);
      net.set(effect.path, first ? { ...effect, before: first.before } : effect);
    }
    return [...net.values()].filter(
      ({ path, before, after }) => !same(before, after) && (paths.length === 0 || paths.includes(path)),
    );
  }

  /** Paths of a turn that were taken back and not brought again. */
  #undone(turn: string): Set<string> {
    const undone = new Set<string>();
    const back = new Map<string, string[]>();
    for (const { by, effects } of this.#done) {
      if (!('undo' in by)) continue;
      const paths = effects.map((effect) => effect.path);
      const { of } = by;
      if (of.kind === 'part') {
        const net = this.#net({ kind: 'turn', turn }, paths);
        const whole = effects.filter(
          ({ path, after }) =>
            of.turn === turn && net.some((own) => own.path === path && same(own.before, after)),
        );
        for (const { path } of whole) undone.add(path);
        back.set(
          by.undo,
          whole.map((effect) => effect.path),
        );
      } else if (by.of.kind === 'undo') for (const path of back.get(by.of.undo) ?? []) undone.delete(path);
      else if (by.of.kind === 'session' || (by.of.kind === 'turn' && by.of.turn === turn)) {
        for (const path of paths) undone.add(path);
        back.set(by.undo, paths);
      }
    }
    return undone;
  }
}

function same(one: Stand, other: Stand): boolean {
  if (one === null || other === null) return one === other;
  return one.text === other.text && (one.mode ?? 0) === (other.mode ?? 0) && one.kind === other.kind;
}

function textOf(stand: Stand | undefined): string | null {
  return stand?.text ?? null;
}

/** A part's name: bound to the file, the turn and its place. */
function partOf(path: string, turn: string | null, n: number): string {
  return `part ${turn ?? 'session'} ${path} ${n}`;
}

/** What taking an effect back does to its path. */
function whatOf({ before, after }: Effect): string {
  return before === null ? 'removed' : after === null ? 'brought_back' : 'restored';
}

function turned(effect: Effect): Effect {
  return { ...effect, before: effect.after, after: effect.before };
}

/** The text now without our part of it; null where that can't be told apart. */
function mergedOf(effect: Effect, now: Stand): string | null {
  if (!effect.before || !effect.after || !now) return null;
  return merge(effect.after.text, effect.before.text, now.text);
}
