// A hundred requests in one second stand in order, however they arrive.
import { expect, test } from 'vitest';
import { emptyView } from '../protocol/fake/fake';
import { approval, entry } from '../protocol/fake/make';
import type { Patch } from '../protocol/generated/Patch';
import { SessionFold } from './session.svelte';

const folder = { id: 'f', name: 'F', place: '~/F', exists: true, wide: null };
const keys = Array.from({ length: 100 }, (_, n) => `apr_${n}`);
const asked: Patch[] = keys.map((key, n) => ({
  kind: 'entry',
  entry: entry(key, n, { kind: 'approval', approval: approval(key) }),
}));

const begin = () => new SessionFold(emptyView('ses_1', folder, { mode: 'ask', model: null, tour: false }));

test('a24_a_hundred_requests_stand_in_order_however_they_arrive', () => {
  const atOnce = begin();
  atOnce.apply(atOnce.seq + 1, asked);
  expect(atOnce.open).toEqual(keys);
  const oneByOne = begin();
  for (const patch of asked) oneByOne.apply(oneByOne.seq + 1, [patch]);
  expect(oneByOne.open).toEqual(keys);
});
