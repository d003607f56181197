// The record is read in pieces, however long it is, and nothing of it is shown that isn't so any more.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Command } from '../protocol/generated/Command';
import { FakeBackend } from '../protocol/fake/fake';
import { holding } from '../protocol/fake/record';
import { sampleWorld } from '../protocol/fake/sample';
import { BLOCK, RecordLog } from './record.svelte';
import { Verifying } from './verifying.svelte';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function backendWith(events: number): FakeBackend {
  const fake = new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
  fake.world.records = new Map([['ses_done', { events, began: 1e12, verification: holding(events) }]]);
  return fake;
}

async function opened(events: number) {
  const fake = backendWith(events);
  const log = new RecordLog(fake, 'ses_done');
  await log.open({});
  return { fake, log };
}

const named = (asked: readonly Command[], name: Command['name']) => asked.filter((one) => one.name === name);

test('a hundred thousand events are known by their letters, and only wanted lines are read', async () => {
  const { fake, log } = await opened(100_000);
  expect(log.total).toBe(100_000);
  expect(log.counts.all).toBe(100_000);
  expect(log.at).toBe(99_999);
  expect(named(fake.asked, 'record_lines')).toEqual([]);
  for (let seq = 50_000; seq < 50_020; seq += 1) log.want(seq);
  await vi.waitFor(() => expect(log.line(50_019)?.seq).toBe(50_019));
  expect(named(fake.asked, 'record_lines')).toEqual([
    { name: 'record_lines', args: { session: 'ses_done', from: 50_000, count: BLOCK } },
  ]);
  expect(log.line(0)).toBeUndefined();
});

test('r_cli_04_what_comes_after_is_read_on_from_where_it_ended', async () => {
  const { fake, log } = await opened(130);
  log.want(129);
  await vi.waitFor(() => expect(log.line(129)).toBeDefined());
  fake.world.records?.set('ses_done', { events: 140, began: 1e12, verification: holding(140) });
  log.follow();
  log.follow();
  await vi.advanceTimersByTimeAsync(400);
  expect(named(fake.asked, 'record_outline').map((one) => 'args' in one && one.args)).toEqual([
    { session: 'ses_done', from: 0 },
    { session: 'ses_done', from: 130 },
  ]);
  expect([log.total, log.at]).toEqual([140, 139]);
  // A block that was short is read again, once.
  log.want(139);
  log.want(138);
  await vi.waitFor(() => expect(log.line(139)?.seq).toBe(139));
  expect(named(fake.asked, 'record_lines')).toHaveLength(2);
});

test('a record that was left and is looked at again is followed again', async () => {
  const { fake, log } = await opened(10);
  log.follow();
  log.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  const before = named(fake.asked, 'record_outline').length;
  fake.world.records?.set('ses_done', { events: 12, began: 1e12, verification: holding(12) });
  log.follow();
  await vi.advanceTimersByTimeAsync(400);
  expect(named(fake.asked, 'record_outline')).toHaveLength(before + 1);
  expect(log.total).toBe(12);
});

test('what was asked for before it was opened anew is not shown after', async () => {
  const { fake, log } = await opened(96);
  log.choose(7);
  log.look(7);
  await vi.advanceTimersByTimeAsync(200);
  const call = fake.call.bind(fake);
  let answer = () => {};
  fake.call = async (command) => {
    const reply = await call(command);
    if (command.name === 'moment' || command.name === 'record_event')
      await new Promise<void>((resolve) => (answer = resolve));
    return reply;
  };
  const event = log.readEvent();
  await vi.advanceTimersByTimeAsync(0);
  await log.open({});
  answer();
  await event;
  expect(log.looked).toBeNull();
  log.look(7);
  await vi.advanceTimersByTimeAsync(200);
  await log.open({});
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(log.looked).toBeNull();
});

test('a session that is opened anew is read anew, since words may have been erased from it', async () => {
  const { log } = await opened(60);
  log.want(3);
  await vi.waitFor(() => expect(log.line(3)).toBeDefined());
  const again = log.open({});
  expect(log.line(3)).toBeUndefined();
  await again;
  expect(log.total).toBe(60);
});

test('the list narrows to a family, and steps go through what is listed', async () => {
  const { log } = await opened(96);
  log.family = 'approvals';
  expect(log.shown.length).toBe(log.counts.approvals);
  expect(log.shown.every((seq) => log.letters[seq]?.toLowerCase() === 'y')).toBe(true);
  expect(log.step(-1)).toBe(true);
  expect(log.at).toBe(log.shown.at(-1));
  while (log.step(-1));
  expect(log.at).toBe(log.shown[0]);
  log.family = 'all';
  expect(log.step(1)).toBe(true);
  expect(log.at).toBe((log.shown.indexOf(log.at) ?? 0) + 0);
});

test('turns are counted up to any event', async () => {
  const { log } = await opened(100);
  const [first, second] = log.turns;
  expect([log.turnOf(0), log.turnOf((first ?? 0) - 1), log.turnOf(first ?? 0)]).toEqual([0, 0, 1]);
  expect([log.turnOf((second ?? 0) - 1), log.turnOf(second ?? 0)]).toEqual([1, 2]);
});

test('a moment is read once it is stayed at, with what the model saw where a step sent something', async () => {
  const { fake, log } = await opened(96);
  for (const seq of [3, 4, 5, 6, 7]) {
    log.choose(seq);
    log.look(seq);
  }
  await vi.advanceTimersByTimeAsync(200);
  expect(named(fake.asked, 'moment')).toHaveLength(1);
  expect(log.looked?.seq).toBe(7);
  expect(log.looked?.saw?.step).toBe(1);
  await log.readEvent();
  expect(log.looked?.event?.seq).toBe(7);
  log.choose(2);
  log.look(2);
  await vi.advanceTimersByTimeAsync(200);
  expect(log.looked).toMatchObject({ seq: 2, saw: null, event: null });
});

test('a record is played event by event to its end', async () => {
  const { log } = await opened(4);
  log.play();
  expect([log.playing, log.at]).toEqual([true, 0]);
  await vi.advanceTimersByTimeAsync(700 * 3);
  expect(log.at).toBe(3);
  await vi.advanceTimersByTimeAsync(700);
  expect([log.playing, log.chosen]).toEqual([false, null]);
});

test('a verification runs by itself, is told by counts, and stops when nobody looks', async () => {
  const fake = backendWith(96);
  const shape = fake.world.records?.get('ses_done');
  if (!shape) throw new Error('the record is made');
  shape.verification = { ...holding(96), state: 'running', requests: 1, of: 6, ago: null };
  const verifying = new Verifying(fake, 'ses_done', () => 5_000);
  await verifying.open();
  expect([verifying.running, verifying.now?.requests]).toEqual([true, 1]);
  shape.verification = { ...holding(96), ago: 1_000 };
  await vi.advanceTimersByTimeAsync(250);
  expect([verifying.now?.state, verifying.doneAt]).toEqual(['done', 4_000]);
  const asked = fake.asked.length;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(fake.asked.length).toBe(asked);
  shape.verification = { ...shape.verification, state: 'running' };
  await verifying.open();
  verifying.close();
  expect(fake.asked.at(-1)?.name).toBe('stop_verify');
  // Looked at again, it is begun again; one that the person stopped isn't.
  await verifying.open();
  expect([fake.asked.at(-1)?.name, verifying.now?.state]).toEqual(['verify', 'done']);
  await verifying.stop();
  shape.verification = { ...shape.verification, state: 'stopped' };
  verifying.close();
  await verifying.open();
  expect([fake.asked.at(-1)?.name, verifying.now?.state]).toEqual(['verification', 'stopped']);
});

test('a verification that is answered after everybody looked away is stopped, and begun again by who looks', async () => {
  const fake = backendWith(96);
  const shape = fake.world.records?.get('ses_done');
  if (!shape) throw new Error('the record is made');
  shape.verification = { ...holding(96), state: 'running', requests: 1, of: 6, ago: null };
  const verifying = new Verifying(fake, 'ses_done', () => 5_000);
  const opening = verifying.open();
  verifying.close();
  await opening;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(fake.asked.map(({ name }) => name)).toEqual(['verification', 'stop_verify']);
  await verifying.open();
  expect(fake.asked.at(-1)?.name).toBe('verify');
  verifying.close();
});
