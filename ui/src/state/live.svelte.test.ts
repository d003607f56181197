// An open session: followed in order, read again after falling behind, and each thing sent is one message.
import { expect, test, vi } from 'vitest';
import { Failure, type Backend } from '../protocol/backend';
import { FakeBackend, type World } from '../protocol/fake/fake';
import { said } from '../protocol/fake/make';
import { sampleWorld } from '../protocol/fake/sample';
import type { Command } from '../protocol/generated/Command';
import { LiveSession } from './live.svelte';

function fake(part: Partial<World> = {}): FakeBackend {
  const pause = () => Promise.resolve();
  return new FakeBackend({ ...sampleWorld('en', 0), script: () => undefined, pause, now: () => 0, ...part });
}

test('r_cli_04_after_falling_behind_it_is_read_again_and_followed_from_there', async () => {
  const backend = fake();
  const live = new LiveSession(backend, 'ses_done');
  await live.open();
  backend.push('ses_done', { kind: 'entry', entry: said('new', 1, 'one') });
  expect(live.fold?.cell('new')).toBeDefined();
  // What was lost on the way is in the record.
  const view = backend.world.views.get('ses_done');
  view?.entries.push(said('lost', 2, 'two'));
  backend.resync('ses_done');
  await new Promise((resolve) => setTimeout(resolve));
  expect(live.fold?.cell('lost')).toBeDefined();
  expect(live.resynced).toBe(true);
  backend.push('ses_done', { kind: 'entry', entry: said('after', 3, 'three') });
  expect(live.fold?.cells.filter((cell) => cell.key === 'after')).toHaveLength(1);
});

test('r_cli_04_a_session_that_cannot_be_read_again_says_so_and_is_tried_until_it_can', async () => {
  vi.useFakeTimers();
  try {
    const backend = fake();
    const live = new LiveSession(backend, 'ses_done');
    await live.open();
    const answer = backend.call.bind(backend);
    const failure = new Failure({ code: 'page/lost', message: 'lost', hint: null });
    backend.call = () => Promise.reject(failure);
    backend.resync('ses_done');
    await vi.advanceTimersByTimeAsync(2_500);
    expect(live.problem?.code).toBe('page/lost');
    backend.call = answer;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(live.problem).toBeNull();
    backend.push('ses_done', { kind: 'entry', entry: said('after', 3, 'three') });
    expect(live.fold?.cell('after')).toBeDefined();

    backend.call = () => Promise.reject(failure);
    backend.resync('ses_done');
    await vi.advanceTimersByTimeAsync(0);
    live.close();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('x18_sending_again_after_a_lost_answer_is_the_same_message', async () => {
  const sent: Command[] = [];
  let lose = true;
  const backend: Backend = {
    call: (command) => {
      sent.push(command);
      if (lose) return Promise.reject(new Failure({ code: 'page/lost', message: 'lost', hint: null }));
      return Promise.resolve({ kind: 'sent', value: { message: 'msg', seq: 1 } });
    },
    subscribe: () => () => {},
  };
  const live = new LiveSession(backend, 'ses_1');
  expect(await live.send('Hello', 'steer')).toBe(false);
  expect(live.problem?.code).toBe('page/lost');
  lose = false;
  expect(await live.send('Hello', 'steer')).toBe(true);
  expect(await live.send('Hello', 'steer')).toBe(true);
  const ids = sent.map((command) => (command.name === 'send' ? command.args.command : ''));
  expect(ids[0]).toMatch(/^cmd_[0-9a-f]{32}$/);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
});

test('x18_a_repeated_command_is_one_message_for_the_backend', async () => {
  const backend = fake();
  const command = {
    name: 'send',
    args: { session: 'ses_done', text: 'x', intent: 'steer', command: 'cmd_1' },
  } as const;
  expect(await backend.call(command)).toEqual(await backend.call(command));
});

test('an approval is answered with the digest that was shown', async () => {
  const backend = fake();
  const live = new LiveSession(backend, 'ses_approval');
  await live.open();
  expect(await live.approve('apr_1', 'sha256:other')).toBe(false);
  expect(live.problem?.code).toBe('approval/changed');
  expect(await live.approve('apr_1', 'sha256:apr_1')).toBe(true);
});

test('a session that is closed hears nothing more', async () => {
  const backend = fake();
  const live = new LiveSession(backend, 'ses_done');
  await live.open();
  live.close();
  backend.push('ses_done', { kind: 'entry', entry: said('new', 1, 'one') });
  expect(live.fold?.cell('new')).toBeUndefined();
});
