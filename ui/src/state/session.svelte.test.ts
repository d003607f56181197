// The fold: patches in any batching give the same view as opening the session, and nothing is folded twice.
import { expect, test } from 'vitest';
import { advance } from '../protocol/fake/advance';
import { emptyView } from '../protocol/fake/fake';
import { answer, approval, call, calls, entry, said } from '../protocol/fake/make';
import type { Patch } from '../protocol/generated/Patch';
import type { SessionView } from '../protocol/generated/SessionView';
import { SessionFold } from './session.svelte';

const folder = { id: 'f', name: 'F', place: '~/F', exists: true, wide: null };
const blank = (): SessionView => emptyView('ses_1', folder, { mode: 'ask', model: null, tour: false });

const patches: Patch[] = [
  { kind: 'entry', entry: said('a', 1, 'Hello') },
  { kind: 'entry', entry: answer('b', 2, '', true) },
  { kind: 'text', key: 'b', text: 'One ' },
  { kind: 'text', key: 'b', text: 'two' },
  { kind: 'entry', entry: calls('c', 3, call('x', 'run_command', { command: 'ls' }, { state: 'running' })) },
  { kind: 'output', call: 'x', text: 'file\n' },
  { kind: 'entry', entry: answer('gone', 4, 'half', true) },
  { kind: 'removed', key: 'gone' },
  { kind: 'entry', entry: entry('d', 5, { kind: 'approval', approval: approval('apr') }) },
  { kind: 'activity', activity: { kind: 'needs_you', count: 1 } },
  { kind: 'added', added: [{ id: 'fol_a', name: 'Invoices', place: '~', state: 'here' }] },
  { kind: 'plan', plan: { version: 1, items: [{ text: 'Go', status: 'in_progress' }] } },
  { kind: 'waiting', waiting: [{ id: 'm', text: 'And', intent: 'steer', held: false, time: 6 }] },
];

function snapshot(fold: SessionFold) {
  const { title, added, mode, model, activity, plan, waiting, seq, open } = fold;
  const cells = fold.cells.map(({ key, time, body }) => ({ key, time, body }));
  return { title, added, mode, model, activity, plan, waiting, seq, open, cells };
}

test('r_cli_07_following_equals_opening_again_at_every_point', () => {
  const view = blank();
  const followed = new SessionFold(blank());
  for (const [n, patch] of patches.entries()) {
    advance(view, patch);
    view.seq = n + 1;
    followed.apply(n + 1, [patch]);
    expect(snapshot(followed)).toEqual(snapshot(new SessionFold(structuredClone(view))));
  }
  const atOnce = new SessionFold(blank());
  atOnce.apply(patches.length, patches);
  expect(snapshot(atOnce)).toEqual(snapshot(followed));
});

test('r_cli_04_what_is_older_than_the_view_is_passed_over', () => {
  const fold = new SessionFold(blank());
  fold.apply(3, patches.slice(0, 3));
  const before = snapshot(fold);
  fold.apply(2, patches.slice(2, 3));
  fold.apply(1, patches.slice(0, 1));
  expect(snapshot(fold)).toEqual(before);
});

test('pieces that stream before they are recorded are shown at once', () => {
  const fold = new SessionFold(blank());
  fold.apply(2, patches.slice(0, 2));
  fold.apply(2, [{ kind: 'text', key: 'b', text: 'One ' }]);
  fold.apply(2, [{ kind: 'text', key: 'b', text: 'two' }]);
  const body = fold.cell('b')?.body;
  expect(body?.kind === 'answer' && body.text).toBe('One two');
  // Whoever joins in the middle gets the whole entry first, so nothing is doubled.
  fold.apply(2, [{ kind: 'entry', entry: answer('b', 2, 'One two', true) }]);
  const again = fold.cell('b')?.body;
  expect(again?.kind === 'answer' && again.text).toBe('One two');
});

test('d21_text_touches_only_its_own_cell', () => {
  const fold = new SessionFold(blank());
  fold.apply(1, patches.slice(0, 2));
  const { cells } = fold;
  const other = cells[0]?.body;
  fold.apply(2, [{ kind: 'text', key: 'b', text: 'x' }]);
  expect(fold.cells).toBe(cells);
  expect(fold.cells[0]?.body).toBe(other);
});

test('what waits is known by its key until it is answered', () => {
  const fold = new SessionFold(blank());
  fold.apply(9, patches.slice(0, 9));
  expect(fold.open).toEqual(['d']);
  const granted = approval('apr', { state: { kind: 'granted' } });
  fold.apply(10, [{ kind: 'entry', entry: entry('d', 5, { kind: 'approval', approval: granted }) }]);
  expect(fold.open).toEqual([]);
});

test('x07_output_keeps_its_last_lines_only', () => {
  const fold = new SessionFold(blank());
  fold.apply(5, patches.slice(0, 5));
  for (let n = 0; n < 50; n += 1) {
    fold.apply(6 + n, [{ kind: 'output', call: 'x', text: 'line\n'.repeat(100) }]);
  }
  const body = fold.cell('c')?.body;
  expect(body?.kind === 'calls' && body.calls[0]?.output.split('\n').length).toBe(201);
});

test('a81_keys_and_names_from_outside_pollute_nothing', () => {
  const fold = new SessionFold(blank());
  const hostile = JSON.parse('{"__proto__": {"polluted": "yes"}, "path": "x"}');
  fold.apply(1, [
    { kind: 'entry', entry: said('__proto__', 1, 'x') },
    { kind: 'entry', entry: calls('constructor', 2, call('toString', '__proto__', hostile)) },
    { kind: 'output', call: 'toString', text: 'y' },
  ]);
  expect(fold.cells.map((cell) => cell.key)).toEqual(['__proto__', 'constructor']);
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
});
