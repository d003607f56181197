// What is shown when the window opens again, and that nothing can block it twice.
import { expect, test } from 'vitest';
import type { SessionSummary } from '../protocol/generated/SessionSummary';
import { Comeback } from './comeback';

const line = (id: string, updated: number, part: Partial<SessionSummary> = {}): SessionSummary => ({
  id,
  title: id,
  folder: { id: 'f', name: 'F', place: '~', exists: true, wide: null },
  updated,
  state: 'idle',
  needs_you: 0,
  tour: false,
  ...part,
});

test('the newest session is shown again; the tour and a damaged one are not', () => {
  const table: [SessionSummary[], string | null][] = [
    [[], null],
    [[line('a', 1), line('b', 3), line('c', 2)], 'b'],
    [[line('a', 1), line('t', 9, { tour: true })], 'a'],
    [[line('a', 1), line('d', 9, { state: 'damaged' })], 'a'],
    [[line('t', 9, { tour: true })], null],
  ];
  for (const [sessions, expected] of table) {
    localStorage.clear();
    expect(new Comeback(localStorage).choose(sessions)).toBe(expected);
  }
});

test('d11_a_session_that_never_reached_the_screen_is_not_tried_again_at_the_next_start', () => {
  const sessions = [line('a', 1)];
  expect(new Comeback(localStorage).choose(sessions)).toBe('a');
  expect(new Comeback(localStorage).choose(sessions)).toBeNull();
  // The start after that may try again: the person may have done something about it.
  const third = new Comeback(localStorage);
  expect(third.choose(sessions)).toBe('a');
  third.shown();
  expect(new Comeback(localStorage).choose(sessions)).toBe('a');
});

test('without a store it comes back each time', () => {
  expect(new Comeback(null).choose([line('a', 1)])).toBe('a');
  expect(new Comeback(null).choose([line('a', 1)])).toBe('a');
});
