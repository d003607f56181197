// Saving copies and taking sessions in: one at a time, told in words, and never a path that a page knew.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Failure, type Backend } from '../../protocol/backend';
import type { Command } from '../../protocol/generated/Command';
import type { Reply } from '../../protocol/generated/Reply';
import { Copies, type CopyNews } from '../../state/copies.svelte';
import { en } from '../../texts/en';
import { zh } from '../../texts/zh';
import MoreMenu from '../composer/MoreMenu.svelte';
import EntryMenu from '../conversation/EntryMenu.svelte';
import CopyToast from './CopyToast.svelte';

function over(answer: (command: Command) => Promise<Reply>): { copies: Copies; asked: Command[] } {
  const asked: Command[] = [];
  const backend: Backend = {
    call: (command) => {
      asked.push(command);
      return answer(command);
    },
    subscribe: () => () => {},
  };
  return { copies: new Copies(backend), asked };
}

test('what is saved is named and where it goes is not, and a dismissed dialog is no news', async () => {
  const copied = { name: 'output.txt', bytes: 7, events: 0 };
  let value: typeof copied | null = copied;
  const { copies, asked } = over(() => Promise.resolve({ kind: 'copied', value }));
  await copies.save('ses_1', { kind: 'output', call: 'call_1' });
  expect(asked).toEqual([
    { name: 'save_copy', args: { session: 'ses_1', of: { kind: 'output', call: 'call_1' } } },
  ]);
  expect(copies.news).toEqual({ kind: 'saved', copied });
  value = null;
  await copies.save('ses_1', { kind: 'session' });
  expect([copies.news, copies.busy]).toEqual([null, false]);
});

test('one thing is asked for at a time', async () => {
  let answer: (reply: Reply) => void = () => {};
  const { copies, asked } = over(() => new Promise((resolve) => (answer = resolve)));
  const first = copies.save('ses_1', { kind: 'session' });
  await copies.save('ses_1', { kind: 'session' });
  expect(await copies.take()).toBe(null);
  expect(asked.length).toBe(1);
  answer({ kind: 'copied', value: { name: 'Menu.daybook', bytes: 0, events: 9 } });
  await first;
  expect(copies.news?.kind).toBe('exported');
});

test('a session that is taken in is given, and one that can’t be says why', async () => {
  const imported = { session: 'ses_2', events: 1_204, requests: 3 };
  let fails = false;
  const { copies } = over(() => {
    if (fails) return Promise.reject(new Failure({ code: 'archive/changed', message: 'x', hint: null }));
    return Promise.resolve({ kind: 'imported', value: imported });
  });
  expect(await copies.take()).toBe('ses_2');
  fails = true;
  expect(await copies.take()).toBe(null);
  expect(copies.news).toMatchObject({ kind: 'failed', failure: { code: 'archive/changed' } });
});

test('news is told in both languages, and what failed at once', () => {
  const on = { onhold: () => {}, onclose: () => {} };
  const failed = (code: string): CopyNews => ({
    kind: 'failed',
    failure: new Failure({ code, message: 'm', hint: null }),
  });
  for (const [t, news, role, words] of [
    [en, { kind: 'saved', copied: { name: 'a.txt', bytes: 1, events: 0 } }, 'status', 'Saved: a.txt'],
    [zh, { kind: 'imported', imported: { session: 's', events: 1_204, requests: 0 } }, 'status', /1,204/],
    [en, failed('copy/erased'), 'alert', 'You erased this, so there is no copy of it any more.'],
    [zh, failed('archive/here'), 'alert', '这个会话已经在这里了。'],
  ] as const) {
    const { unmount } = render(CopyToast, { t, news, ...on });
    expect(screen.getByRole(role)).toHaveTextContent(words);
    unmount();
  }
});

test('a session can be exported from its menu, also where nothing else can be done with it', async () => {
  const [onsummarise, onexport] = [vi.fn(), vi.fn()];
  render(MoreMenu, { t: en, readOnly: true, onsummarise, onexport });
  await userEvent.click(screen.getByRole('button', { name: 'More for this session' }));
  await userEvent.click(screen.getByRole('menuitem', { name: /^Summarise/ }));
  expect(onsummarise).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('menuitem', { name: /^Export this session/ }));
  expect(onexport).toHaveBeenCalledOnce();
});

test('all that a call gave back can be saved by keyboard', async () => {
  const onsave = vi.fn();
  render(EntryMenu, { t: en, about: 'Ran ls', onerase: () => {}, onsave });
  screen.getByRole('button', { name: 'More: Ran ls' }).focus();
  await userEvent.keyboard('{Enter}');
  expect(screen.getByRole('menuitem', { name: 'Save all of its output…' })).toHaveFocus();
  await userEvent.keyboard('{Enter}');
  expect(onsave).toHaveBeenCalledOnce();
});
