// What a person types is an amount or it isn't, and a limit that was met is named as it was shown.
import { expect, test } from 'vitest';
import { amountOf, isLimit, isPrice, pastOf, typed } from './spending';

test('amounts_are_dollars_in_micro_dollars', () => {
  const all = [
    '3',
    '$3.00',
    ' 1,234.5 ',
    '1，234，567',
    '＄0.30',
    '.006',
    '0',
    '',
    '  ',
    '3 euros',
    '1.2.3',
    '-3',
    '0.0000001',
    '2,50',
    '1,2345',
  ];
  expect(all.map(amountOf)).toEqual([
    3_000_000,
    3_000_000,
    1_234_500_000,
    1_234_567_000_000,
    300_000,
    6_000,
    0,
    null,
    null,
    Number.NaN,
    Number.NaN,
    Number.NaN,
    Number.NaN,
    Number.NaN,
    Number.NaN,
  ]);
});

test('a_limit_is_from_a_cent_to_a_million_dollars_or_none', () => {
  expect([null, 10_000, 1e12].every(isLimit)).toBe(true);
  expect([0, 9_999, 1e12 + 1, Number.NaN].some(isLimit)).toBe(false);
  expect([0, 1e11].every(isPrice)).toBe(true);
  expect([null, 1e11 + 1, Number.NaN].some(isPrice)).toBe(false);
});

test('what_is_kept_is_typed_as_it_reads_back', () => {
  for (const micros of [10_000, 3_000_000, 1_234_500_000, 6_000, 2_500_001]) {
    expect(amountOf(typed(micros))).toBe(micros);
  }
  expect([typed(null), typed(3_000_000), typed(6_000)]).toEqual(['', '$3.00', '$0.006']);
});

test('going_on_names_the_limit_that_was_shown', () => {
  expect(pastOf({ limit: 'spend_session', value: '3000000' })).toEqual({ kind: 'session', limit: 3_000_000 });
  expect(pastOf({ limit: 'spend_day', value: '10000000' })).toEqual({ kind: 'day', limit: 10_000_000 });
  expect(pastOf({ limit: 'price', value: '0', provider: 'kimi', model: 'kimi-k2.6' })).toEqual({
    kind: 'price',
    model: { provider: 'kimi', model: 'kimi-k2.6' },
  });
  expect(pastOf({ limit: 'steps', value: '100' })).toBeNull();
});
