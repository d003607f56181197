// A hundred requests in one second: in order, each armed by itself, and one click answers one.
import { expect, test } from 'vitest';
import { emptyView } from '../protocol/fake/fake';
import { approval, entry } from '../protocol/fake/make';
import type { Patch } from '../protocol/generated/Patch';
import { Arming, ARMING_MS } from './arming.svelte';
import { handClock } from './hand-clock';
import { SessionFold } from './session.svelte';

const COUNT = 100;
const folder = { id: 'f', name: 'F', place: '~/F', exists: true };
const keys = Array.from({ length: COUNT }, (_, n) => `apr_${n}`);
const asked: Patch[] = keys.map((key, n) => ({
  kind: 'entry',
  entry: entry(key, n, { kind: 'approval', approval: approval(key) }),
}));

/** The queue as the page draws it: a card for each open request, armed by its place. */
class Queue {
  fold = new SessionFold(emptyView('ses_1', folder, { mode: 'ask', model: null, tour: false }));
  clock = handClock();
  answered: string[] = [];
  #cards = new Map<string, Arming>();

  take(patches: Patch[]): void {
    this.fold.apply(this.fold.seq + 1, patches);
    this.#draw();
  }

  /** A click where the first card stands. */
  click(): void {
    const [first] = this.fold.open;
    if (first === undefined || !this.armed(first)) return;
    const body = this.fold.cell(first)?.body;
    if (body?.kind !== 'approval') return;
    this.answered.push(body.approval.digest);
    const granted = { ...body.approval, state: { kind: 'granted' as const } };
    this.take([{ kind: 'entry', entry: entry(first, 0, { kind: 'approval', approval: granted }) }]);
  }

  armed(key: string): boolean {
    return this.#cards.get(key)?.armed ?? false;
  }

  #draw(): void {
    for (const [key, card] of this.#cards) if (!this.fold.open.includes(key)) card.stop();
    for (const [at, key] of this.fold.open.entries()) {
      const card = this.#cards.get(key) ?? new Arming(this.clock);
      this.#cards.set(key, card);
      card.at(key, at + 1);
    }
  }
}

test('a24_a_hundred_requests_stand_in_order_however_they_arrive', () => {
  const atOnce = new Queue();
  atOnce.take(asked);
  expect(atOnce.fold.open).toEqual(keys);
  const oneByOne = new Queue();
  for (const patch of asked) oneByOne.take([patch]);
  expect(oneByOne.fold.open).toEqual(keys);
});

test('a24_requests_that_keep_arriving_behind_it_leave_the_first_armed', () => {
  const queue = new Queue();
  for (const patch of asked) {
    queue.take([patch]);
    queue.clock.pass(10);
  }
  expect(queue.armed('apr_0')).toBe(true);
  expect(queue.armed('apr_99')).toBe(false);
});

test('a24_clicks_that_come_faster_than_a_request_stands_still_answer_one', () => {
  const queue = new Queue();
  queue.take(asked);
  queue.clock.pass(ARMING_MS);
  // A second of clicks, one every ten milliseconds, where the first card stands.
  for (let ms = 0; ms < 1_000; ms += 10) {
    queue.click();
    queue.clock.pass(10);
  }
  expect(queue.answered).toEqual(['sha256:apr_0', 'sha256:apr_1']);
  expect(queue.fold.open).toEqual(keys.slice(2));
  // Everything behind moved up, so nothing is armed before it stood still again.
  expect(keys.filter((key) => queue.armed(key))).toEqual([]);
  queue.clock.pass(ARMING_MS);
  expect(keys.filter((key) => queue.armed(key))).toEqual(keys.slice(2));
});
