// A request stands still for 600 ms before it can be answered, and again when it moves.
import { expect, test } from 'vitest';
import { Arming, ARMING_MS } from './arming.svelte';
import { handClock } from './hand-clock';

test('a24_a_request_is_armed_only_after_it_stood_still', () => {
  const clock = handClock();
  const arming = new Arming(clock);
  arming.at('apr_1', 1);
  clock.pass(ARMING_MS - 1);
  expect(arming.armed).toBe(false);
  clock.pass(1);
  expect(arming.armed).toBe(true);
});

test('a24_a_request_that_moves_up_is_armed_anew', () => {
  const clock = handClock();
  const arming = new Arming(clock);
  arming.at('apr_2', 2);
  clock.pass(ARMING_MS);
  expect(arming.armed).toBe(true);
  arming.at('apr_2', 1);
  expect(arming.armed).toBe(false);
  clock.pass(ARMING_MS);
  expect(arming.armed).toBe(true);
});

test('saying again where it stands changes nothing', () => {
  const clock = handClock();
  const arming = new Arming(clock);
  arming.at('apr_1', 1);
  clock.pass(ARMING_MS);
  arming.at('apr_1', 1);
  expect(arming.armed).toBe(true);
});

test('a timer that fires early arms nothing yet, and the rest is waited for', () => {
  let now = 0;
  const waits: { ms: number; run: () => void }[] = [];
  const arming = new Arming({
    now: () => now,
    after: (ms, run) => {
      waits.push({ ms, run });
      return () => {};
    },
  });
  arming.at('apr_1', 1);
  now = ARMING_MS - 0.4;
  waits[0]?.run();
  expect(arming.armed).toBe(false);
  expect(waits.map(({ ms }) => ms)).toEqual([ARMING_MS, 1]);
  now = ARMING_MS + 0.6;
  waits[1]?.run();
  expect(arming.armed).toBe(true);
});
