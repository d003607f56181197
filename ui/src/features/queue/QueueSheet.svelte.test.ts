// The list of what waits: arming, the keyboard, what it never does by itself, and a hundred requests at once.
import { fireEvent, render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import type { Need } from '../../protocol/generated/Need';
import { ARMING_MS } from '../../state/arming.svelte';
import { handClock } from '../../state/hand-clock';
import type { Waiting } from '../../state/queue.svelte';
import { en } from '../../texts/en';
import { zh } from '../../texts/zh';
import QueueSheet from './QueueSheet.svelte';

function run(id: string, part: Partial<Extract<Need['what'], { kind: 'approval' }>> = {}): Waiting {
  const facts = { command: `npm run ${id}` };
  const what = { kind: 'approval', digest: `d-${id}`, tool: 'run_command', act: 'run', facts } as const;
  return {
    session: 'ses_1',
    need: { id, entry: id, since: 1, what: { ...what, undo: 'partly', whole: true, ...part } },
  };
}

type Props = Parameters<typeof QueueSheet>[1];

function show(all: readonly Waiting[], part: Partial<Props> = {}) {
  const clock = handClock();
  const on = {
    onallow: vi.fn<Props['onallow']>(() => Promise.resolve(true)),
    onrefuse: vi.fn<Props['onrefuse']>(() => Promise.resolve(true)),
    onreview: vi.fn<Props['onreview']>(),
    onclose: vi.fn<Props['onclose']>(),
  };
  const props: Props = {
    t: en,
    all,
    session: null,
    nameOf: (id) => `Session ${id}`,
    busy: false,
    problem: '',
    platform: 'linux',
    timing: clock,
    ...on,
    ...part,
  };
  const view = render(QueueSheet, props);
  const button = (name: RegExp | string) => screen.getByRole('button', { name });
  return { ...view, ...on, props, button, pass: clock.pass };
}

test('each row says what, where and what a yes would mean, and only what is said wholly can be allowed', () => {
  const edit = run('b', { act: 'edit', facts: { path: 'menu.json' }, undo: 'yes', whole: false });
  const gone = run('c', {
    ...{ act: 'delete', facts: { path: 'old.txt', kind: 'file', to: 'trash' }, undo: 'yes' },
  });
  const asks: Waiting = {
    session: 'ses_2',
    need: { id: 'q', entry: 'q', since: 2, what: { kind: 'question', text: 'Which one?' } },
  };
  const lost: Waiting = {
    session: 'ses_2',
    need: {
      ...{ id: 'o', entry: 'unknown_o', since: 3 },
      what: { kind: 'outcome', tool: 'run_command', facts: { command: './publish.sh' } },
    },
  };
  show([run('a'), edit, gone, asks, lost], { session: 'ses_1' });
  expect(screen.getByRole('heading', { level: 2 })).toHaveTextContent('5 things need you');
  const rows = screen.getAllByRole('listitem').map((row) => row.textContent?.replace(/\s+/g, ' ').trim());
  expect(rows).toEqual([
    'Run a command: npm run a Session ses_1 · shown here Only in this folder, without internet · Can be undone in part. Allow once Don’t allow Review',
    'Change menu.json Session ses_1 · shown here Can be undone. Don’t allow Review',
    'Delete old.txt Session ses_1 · shown here Deletes the file old.txt and puts it into the trash. Can be undone. Allow once Don’t allow Review',
    'Which one? Session ses_2 Answer',
    'Did “./publish.sh” finish? Session ses_2 Review',
  ]);
});

test('a24_a_row_can_be_answered_only_after_it_stood_still_where_it_is', async () => {
  const all = [run('a'), run('b'), run('c')];
  const { rerender, props, button, pass, onallow, onrefuse } = show(all);
  const allow = (id: string) => button(`Allow once: Run a command: npm run ${id}`);
  expect(allow('a')).toBeDisabled();
  pass(599);
  expect(allow('a')).toBeDisabled();
  pass(1);
  expect(allow('a')).toBeEnabled();
  // The first is answered: those below move up under the pointer, and wait again.
  await rerender({ ...props, all: all.slice(1) });
  for (const id of ['b', 'c']) {
    expect(allow(id)).toBeDisabled();
    await fireEvent.click(allow(id));
    await fireEvent.click(button(`Don’t allow: Run a command: npm run ${id}`));
  }
  expect([onallow.mock.calls.length, onrefuse.mock.calls.length]).toEqual([0, 0]);
  pass(600);
  // What comes below moves nobody.
  await rerender({ ...props, all: [...all.slice(1), run('d')] });
  expect([allow('b'), allow('c'), allow('d')].map((one) => (one as HTMLButtonElement).disabled)).toEqual([
    false,
    false,
    true,
  ]);
  // What comes first pushes all down.
  pass(600);
  await rerender({ ...props, all: [run('e'), ...all.slice(1)] });
  for (const id of ['e', 'b', 'c']) expect(allow(id)).toBeDisabled();
});

test('a24_two_clicks_at_one_place_never_answer_two', async () => {
  const all = [run('a'), run('b')];
  const { rerender, props, pass, onallow } = show(all);
  pass(600);
  const place = () => screen.getAllByRole('button', { name: /^Allow once/ })[0] as HTMLElement;
  await userEvent.click(place());
  await rerender({ ...props, all: all.slice(1) });
  await userEvent.click(place());
  expect(onallow.mock.calls.map(([one]) => one.need.id)).toEqual(['a']);
});

test('a24_while_one_is_answered_no_other_can_be', async () => {
  const { pass, button } = show([run('a'), run('b')], { busy: true });
  pass(600);
  for (const id of ['a', 'b']) expect(button(`Allow once: Run a command: npm run ${id}`)).toBeDisabled();
});

test('a24_plain_enter_never_approves_and_the_key_does_in_its_own_row', async () => {
  const { pass, button, onallow } = show([run('a'), run('b', { whole: false })]);
  pass(600);
  const allow = button('Allow once: Run a command: npm run a');
  allow.focus();
  await userEvent.keyboard('{Enter}');
  expect(onallow).not.toHaveBeenCalled();
  await userEvent.keyboard('{Control>}{Enter}{/Control}');
  expect(onallow.mock.calls.map(([one]) => one.need.id)).toEqual(['a']);
  button('Review: Run a command: npm run b').focus();
  await userEvent.keyboard('{Control>}{Enter}{/Control}');
  expect(onallow).toHaveBeenCalledTimes(1);
});

test('a24_a_hundred_at_once_are_counted_and_only_some_are_drawn', async () => {
  const all = Array.from({ length: 100 }, (_, n) => run(`n${n}`));
  const { pass, onallow } = show(all);
  expect(screen.getByRole('heading', { level: 2 })).toHaveTextContent('100 things need you');
  expect(screen.getAllByRole('listitem')).toHaveLength(20);
  await userEvent.click(screen.getByRole('button', { name: '80 more' }));
  expect(screen.getAllByRole('listitem')).toHaveLength(40);
  pass(600);
  await userEvent.click(screen.getAllByRole('button', { name: /^Allow once/ })[30] as HTMLElement);
  expect(onallow.mock.calls.map(([one]) => one.need.id)).toEqual(['n30']);
});

test('a24_requests_that_keep_arriving_behind_it_leave_the_first_armed', async () => {
  const all = Array.from({ length: 20 }, (_, n) => run(`n${n}`));
  const { rerender, props, button, pass } = show([]);
  const allow = (id: string) => button(`Allow once: Run a command: npm run ${id}`);
  for (let n = 1; n <= all.length; n += 1) {
    await rerender({ ...props, all: all.slice(0, n) });
    pass(50);
  }
  expect(allow('n0')).toBeEnabled();
  expect(allow('n19')).toBeDisabled();
});

test('a24_clicks_that_come_faster_than_a_request_stands_still_answer_one', async () => {
  let all: readonly Waiting[] = Array.from({ length: 100 }, (_, n) => run(`n${n}`));
  const { rerender, props, pass, onallow } = show(all);
  const buttons = () => screen.getAllByRole<HTMLButtonElement>('button', { name: /^Allow once/ });
  onallow.mockImplementation(async ({ need }) => {
    all = all.filter((one) => one.need.id !== need.id);
    await rerender({ ...props, all });
    return true;
  });
  pass(ARMING_MS);
  // A second of clicks, one every ten milliseconds, where the first row stands.
  for (let ms = 0; ms < 1_000; ms += 10) {
    await fireEvent.click(document.querySelector('[data-allows]') as HTMLElement);
    pass(10);
  }
  expect(onallow.mock.calls.map(([one]) => one.need.id)).toEqual(['n0', 'n1']);
  expect(screen.getByRole('heading', { level: 2 })).toHaveTextContent('98 things need you');
  // Everything behind moved up, so nothing is armed before it stood still again.
  expect(buttons().filter((one) => !one.disabled)).toEqual([]);
  pass(ARMING_MS);
  expect(buttons().filter((one) => !one.disabled)).toHaveLength(20);
});

test('showing it takes the focus, hiding it gives it back and decides nothing', async () => {
  const opener = document.createElement('button');
  document.body.append(opener);
  opener.focus();
  const { onallow, onrefuse, onclose, unmount } = show([run('a')]);
  expect(screen.getByRole('region', { name: 'Waiting for you' })).toHaveFocus();
  await userEvent.keyboard('{Escape}');
  await userEvent.click(screen.getByRole('button', { name: 'Hide for now' }));
  expect(onclose).toHaveBeenCalledTimes(2);
  unmount();
  expect(opener).toHaveFocus();
  opener.remove();
  expect([onallow.mock.calls.length, onrefuse.mock.calls.length]).toEqual([0, 0]);
});

test('what arrives later takes no focus', async () => {
  const { rerender, props } = show([run('a')]);
  const field = document.createElement('input');
  document.body.append(field);
  field.focus();
  await rerender({ ...props, all: [run('b'), run('a')] });
  expect(field).toHaveFocus();
  field.remove();
});

test('it speaks chinese', () => {
  show([run('a'), run('b', { undo: 'yes', whole: false })], { t: zh, session: 'ses_1' });
  expect(screen.getByRole('region', { name: '等你处理' })).toBeVisible();
  expect(screen.getByRole('heading', { level: 2 })).toHaveTextContent('有 2 件事需要你');
  const row = within(screen.getAllByRole('listitem')[0] as HTMLElement);
  expect(row.getByText('仅限此文件夹，不联网 · 可以撤销一部分。')).toBeVisible();
});
