// Taking changes back over the stand-in: at once, after a look, what is left alone, its news, and what stands in the way.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { UndoOf } from '../protocol/generated/UndoOf';
import { TURNS } from '../protocol/fake/bakery';
import { FakeBackend } from '../protocol/fake/fake';
import { sampleWorld } from '../protocol/fake/sample';
import { Changes } from './changes.svelte';
import { LiveSession } from './live.svelte';
import { hindranceOf, lastOf, NEWS_MS, Undoing } from './undoing.svelte';

const turn = (id: string): UndoOf => ({ kind: 'turn', turn: id });

async function open(id = 'ses_done') {
  const world = sampleWorld('en', 1e12);
  const backend = new FakeBackend({
    ...world,
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
  const live = new LiveSession(backend, id);
  await live.open();
  const fold = live.fold;
  if (!fold) throw new Error('the sample opens');
  const undoing = new Undoing(backend, id);
  const changes = new Changes(backend, id);
  await changes.load();
  /** Lets the stand-in finish, and tells what it did. */
  const settle = async () => {
    await vi.waitFor(() => expect(fold.undos.every((undo) => undo.state !== 'working')).toBe(true));
    await Promise.resolve();
    for (const undo of fold.undos) undoing.saw(undo);
    await changes.load();
  };
  const asked = (name: string) => backend.asked.filter((command) => command.name === name);
  return { backend, fold, undoing, changes, settle, asked };
}

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

test('r_undo_a_turn_goes_back_at_once_and_comes_again', async () => {
  const { undoing, fold, changes, settle } = await open();
  await undoing.want(turn(TURNS.form));
  await vi.waitFor(() => expect(fold.undos.at(-1)?.state).toBe('done'));
  await settle();
  expect(undoing.plan).toBeNull();
  expect(undoing.news).toMatchObject({ kind: 'done', undo: { count: 2 } });
  expect(changes.turns.map(({ undone }) => undone)).toEqual([false, true]);
  expect(changes.latest?.turn).toBe(TURNS.filter);
  await undoing.redo(fold.undos[0]?.id ?? '');
  await vi.waitFor(() => expect(fold.undos).toHaveLength(2));
  await settle();
  expect(fold.undos.map(({ undone }) => undone)).toEqual([true, false]);
  expect(changes.turns.every(({ undone }) => !undone)).toBe(true);
});

test('r_undo_one_file_of_a_return_comes_again_by_itself', async () => {
  const { undoing, fold, settle } = await open();
  const chosen = { turn: TURNS.form, path: 'styles.css' };
  expect(lastOf(fold.undos, chosen)).toBeNull();
  await undoing.want(turn(TURNS.form));
  await vi.waitFor(() => expect(fold.undos.at(-1)?.state).toBe('done'));
  await settle();
  const took = lastOf(fold.undos, chosen);
  expect(took).toBe(fold.undos[0]?.id);
  expect(lastOf(fold.undos, { ...chosen, path: 'never.css' })).toBeNull();
  await undoing.redo(took ?? '', [chosen.path]);
  await vi.waitFor(() => expect(fold.undos).toHaveLength(2));
  await settle();
  expect(fold.undos.at(-1)?.files.map(({ path }) => path)).toEqual([chosen.path]);
});

test('r_undo_a_file_somebody_changed_keeps_that_change_where_it_stands_apart', async () => {
  const { undoing, fold, changes, backend, settle } = await open();
  await changes.select(TURNS.filter, 'menu.json');
  expect(changes.standing?.kind).toBe('apart');
  await undoing.want(turn(TURNS.filter));
  await vi.waitFor(() => expect(fold.undos.at(-1)?.state).toBe('done'));
  await settle();
  expect(undoing.plan).toBeNull();
  const now = backend.world.files.get('ses_done')?.threeWay({ kind: 'session' }, 'menu.json');
  expect(fold.undos[0]).toMatchObject({ count: 7, kept: [] });
  // The price of the person is what is left of both changes.
  expect(now?.ours.hunks.flatMap((hunk) => hunk.lines.filter((line) => line.kind !== 'same'))).toHaveLength(
    2,
  );
});

test('r_undo_mixed_changes_are_shown_first_and_stay_unless_they_are_named', async () => {
  const { undoing, fold, backend, settle, asked } = await open();
  backend.world.files.get('ses_done')?.put('styles.css', 'all mine\n');
  await undoing.want(turn(TURNS.form));
  expect(asked('undo')).toEqual([]);
  expect(undoing.plan).toMatchObject({ count: 1, apart: [], kept: [{ path: 'styles.css', why: 'changed' }] });
  await undoing.confirm([]);
  await vi.waitFor(() => expect(fold.undos.at(-1)?.state).toBe('done'));
  await settle();
  expect(fold.undos[0]).toMatchObject({ count: 1, kept: [{ path: 'styles.css', why: 'changed' }] });
  await undoing.want(turn(TURNS.form), ['styles.css']);
  await undoing.confirm(['styles.css', 'made-up.txt']);
  expect(asked('undo').at(-1)).toMatchObject({
    args: {
      paths: ['styles.css'],
      overwrite: ['styles.css'],
      seen: { 'styles.css': 'as shown: styles.css' },
    },
  });
});

test('a whole session is shown first, and closing the plan changes nothing', async () => {
  const { undoing, asked } = await open();
  await undoing.want({ kind: 'session' });
  expect(undoing.plan).toMatchObject({ count: 9, apart: ['menu.json'], kept: [] });
  undoing.dismiss();
  await undoing.confirm([]);
  expect(asked('undo')).toEqual([]);
});

test('news stay for eight seconds, as long as somebody is at it, and a failure until it is closed', async () => {
  const { undoing, fold, settle } = await open();
  await undoing.want(turn(TURNS.form));
  await vi.waitFor(() => expect(fold.undos.at(-1)?.state).toBe('done'));
  await settle();
  vi.advanceTimersByTime(NEWS_MS - 1);
  expect(undoing.news).not.toBeNull();
  undoing.hold(true);
  vi.advanceTimersByTime(NEWS_MS * 2);
  expect(undoing.news).not.toBeNull();
  undoing.hold(false);
  vi.advanceTimersByTime(NEWS_MS);
  expect(undoing.news).toBeNull();
  await undoing.want(turn(TURNS.form));
  expect(undoing.news).toEqual({ kind: 'nothing' });
});

test('r_undo_nothing_goes_back_while_a_turn_works', async () => {
  const { undoing, fold } = await open('ses_work');
  expect(hindranceOf(fold)).toBe('working');
  await undoing.want(turn(TURNS.form));
  expect(undoing.news).toMatchObject({ kind: 'failed', failure: { code: 'restore/busy' } });
  vi.advanceTimersByTime(NEWS_MS * 10);
  expect(undoing.news).not.toBeNull();
  undoing.closeNews();
  expect(undoing.news).toBeNull();
  const asking = await open('ses_approval');
  expect(hindranceOf(asking.fold)).toBe('working');
  const done = await open();
  expect(hindranceOf(done.fold)).toBeNull();
  done.fold.activity = { kind: 'needs_you', count: 1 };
  expect(hindranceOf(done.fold)).toBeNull();
});

test('r_undo_one_part_goes_back_at_once_and_what_stands_there_only_without_it_is_no_conflict', async () => {
  const { undoing, fold, changes, backend, settle } = await open();
  const folder = backend.world.files.get('ses_done');
  const all = (...changed: number[]) =>
    Array.from({ length: 30 }, (_, n) => `${changed.includes(n) ? 'new' : 'line'} ${n}\n`).join('');
  folder?.put('list.txt', all());
  folder?.begin('trn_list', 'A list', 1e12);
  folder?.change('list.txt', all(2, 25));
  await changes.load();
  await changes.select('trn_list', 'list.txt');
  const [first, second] = changes.diff?.hunks.map((hunk) => hunk.part ?? '') ?? [];
  if (!first || !second) throw new Error('it has two parts');
  await undoing.part('trn_list', 'list.txt', first);
  await vi.waitFor(() => expect(fold.undos.at(-1)?.state).toBe('done'));
  await settle();
  expect(undoing.news).toMatchObject({ kind: 'done', undo: { of: { kind: 'part' }, count: 1 } });
  expect(changes.diff?.hunks.map((hunk) => hunk.undone)).toEqual([true, false]);
  expect([changes.standing?.kind, changes.onlyParts]).toEqual(['apart', true]);
  await undoing.redo(fold.undos.at(-1)?.id ?? '');
  await vi.waitFor(() => expect(fold.undos).toHaveLength(2));
  await settle();
  expect(changes.diff?.hunks.map((hunk) => hunk.undone)).toEqual([false, false]);
  // The same lines were changed since: refused with the reason, and nothing happens.
  folder?.put('list.txt', all(2, 25).replace('new 25', 'mine'));
  await undoing.part('trn_list', 'list.txt', second);
  expect(undoing.news).toMatchObject({ kind: 'failed', failure: { code: 'restore/mixed' } });
  expect(fold.undos).toHaveLength(2);
});
