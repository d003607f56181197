// Which presses belong to an input method, as the browsers really report them.
import { expect, test } from 'vitest';
import { Composing, isComposing, type Press } from './composing';

const press = (part: Partial<Press>): Press => ({
  isComposing: false,
  keyCode: 13,
  timeStamp: 1000,
  ...part,
});

test('d06_an_enter_that_commits_belongs_to_the_composition', () => {
  const cases: [string, Partial<Press>, boolean][] = [
    ['Chromium and Firefox', { isComposing: true, keyCode: 229 }, true],
    ['WebKit: composition already over', { isComposing: false, keyCode: 229 }, true],
    ['reported as composing only', { isComposing: true, keyCode: 13 }, true],
    ['a plain Enter', { isComposing: false, keyCode: 13 }, false],
  ];
  for (const [name, given, expected] of cases) expect(isComposing(press(given)), name).toBe(expected);
});

test('d06_the_next_plain_enter_is_the_persons', () => {
  const composing = new Composing();
  composing.ended(1000);
  expect(composing.owns(press({ keyCode: 229, timeStamp: 1000 }))).toBe(true);
  expect(composing.owns(press({ timeStamp: 1001 }))).toBe(false);
});

test('d06_an_enter_straight_after_the_end_without_any_mark_is_the_same_press', () => {
  const composing = new Composing();
  composing.ended(1000);
  expect(composing.owns(press({ timeStamp: 1004 }))).toBe(true);
  expect(composing.owns(press({ timeStamp: 1008 }))).toBe(false);
});

test('once the key came up, the next press is a new one', () => {
  const composing = new Composing();
  composing.ended(1000);
  composing.settled();
  expect(composing.owns(press({ timeStamp: 1002 }))).toBe(false);
});
