// Nothing stands twice: an answered request is told by its call's row, a failed attempt by the failed end.
import { expect, test } from 'vitest';
import { answer, approval, call, calls, end, entry } from '../protocol/fake/make';
import type { ApprovalState } from '../protocol/generated/ApprovalState';
import { decisionOf, decisionsAfter, lastTold, toldBeside, turnIsOver } from './told';

const request = (of: string, state: ApprovalState) =>
  entry(`apr_${of}`, 0, { kind: 'approval', approval: approval(`apr_${of}`, { call: of, state }) });
const told = (cells: Parameters<typeof toldBeside>[0]) => cells.map((_, at) => toldBeside(cells, at));

test('an answered request is told by the row of its call, an open one and one asked anew are not', () => {
  const states: [ApprovalState, boolean][] = [
    [{ kind: 'granted' }, true],
    [{ kind: 'refused', why: null }, true],
    // What the person said with it is an entry of its own.
    [{ kind: 'refused', why: 'Maria’s' }, false],
    [{ kind: 'expired', why: 'user' }, true],
    [{ kind: 'expired', why: 'changed' }, false],
    [{ kind: 'open' }, false],
  ];
  for (const [state, expected] of states) {
    const cells = [calls('c', 0, call('one', 'run_command', { command: 'ls' })), request('one', state)];
    expect(told(cells), JSON.stringify(state)).toEqual([false, expected]);
  }
  // Without a row of its own call it stays.
  expect(told([answer('a', 0, 'x'), request('one', { kind: 'granted' })])).toEqual([false, false]);
});

test('calls shown as one share a decision only where it is the same for all', () => {
  const list = ['one', 'two'].map((id) => call(id, 'edit_file', { path: id }));
  const cells = (second: ApprovalState) => [
    calls('c', 0, ...list),
    request('one', { kind: 'granted' }),
    request('two', second),
  ];
  expect(told(cells({ kind: 'granted' }))).toEqual([false, true, true]);
  const apart = cells({ kind: 'refused', why: null });
  expect(told(apart)).toEqual([false, false, false]);
  expect(decisionOf(list, decisionsAfter(apart, 0))).toBeNull();
});

test('a failed attempt is told by the failed end after it, unless that says something else', () => {
  const facts = { class: 'overloaded', message: 'busy' };
  const attempt = entry('n', 0, { kind: 'notice', code: 'attempt/failed', facts, level: 'bad' });
  expect(told([attempt, end('e', 0, 'failed', facts, 1)])).toEqual([true, false]);
  expect(told([attempt, end('e', 0, 'failed', { ...facts, message: 'no' }, 1)])).toEqual([false, false]);
  expect(told([attempt, end('e', 0, 'cancelled', facts, 1)])).toEqual([false, false]);
});

test('what is taken back or noted after a turn leaves it ended', () => {
  const over = [answer('a', 0, 'x'), end('t', 0, 'completed', {}, 1)];
  const undo = {
    ...{
      id: 'u',
      of: { kind: 'session' as const },
      state: 'done',
      held: false,
      files: [],
      count: 0,
      kept: [],
    },
    ...{ kept_more: 0, error: null, undone: false, thinned: null },
  };
  const note = { kind: 'notice' as const, code: 'mode/changed', facts: {}, level: 'info' as const };
  expect(turnIsOver([])).toBe(false);
  expect(turnIsOver(over)).toBe(true);
  expect(turnIsOver([...over, entry('u', 0, { kind: 'undo', undo }), entry('n', 0, note)])).toBe(true);
  expect(turnIsOver([...over, answer('b', 0, 'y'), entry('n', 0, note)])).toBe(false);
  // Summarised by hand after a turn that failed: it can still be tried again.
  const less = { steps: 4, results: 0, before: 9_000, after: 900, why: 'asked', text: 'x' };
  const history = { kind: 'history' as const, history: { ...less, by_model: true, in_force: true } };
  const failed = end('t', 0, 'failed', { class: 'overloaded' }, 1);
  expect(lastTold([answer('a', 0, 'x'), failed, entry('h', 0, history)])).toBe(failed);
});
