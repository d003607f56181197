import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { expect, it } from 'vitest';
import type { Backend } from '../../protocol/backend';
import type { StorageView } from '../../protocol/generated/StorageView';
import { Keeping } from '../../state/storage.svelte';
import { en } from '../../texts/en';
import StoragePage from './StoragePage.svelte';

const GB = 1024 ** 3;

function keeping(value: StorageView, thinned = { turns: 3, left: 0 }) {
  const asked: string[] = [];
  const backend: Backend = {
    call(command) {
      asked.push(command.name === 'set_undo_limit' ? `limit ${command.args.gigabytes}` : command.name);
      if (command.name === 'set_undo_limit') value = { ...value, limit_gigabytes: command.args.gigabytes };
      if (command.name === 'thin_now') {
        const bytes = thinned.turns > 0 ? value.bytes - GB : 0;
        value = { ...value, bytes: value.bytes - bytes, thinned: value.thinned + thinned.turns };
        return Promise.resolve({ kind: 'thinned', value: { ...thinned, bytes, kept: value } });
      }
      return Promise.resolve({ kind: 'storage', value });
    },
    subscribe: () => () => {},
  };
  return { storage: new Keeping(backend), asked };
}

it('shows what is kept, since when undo is possible, and the rule', async () => {
  const since = new Date(2026, 9, 14).getTime();
  const { storage } = keeping({ bytes: 3.4 * GB, limit_gigabytes: 10, since, thinned: 0 });
  render(StoragePage, { t: en, storage });
  expect(await screen.findByText('3.4 GB')).toBeVisible();
  expect(screen.getByText('Undo is possible back to 14 Oct')).toBeVisible();
  for (const rule of en.storage.rules) expect(screen.getByText(rule)).toBeVisible();
});

it('sets the limit, thins now, and says what went', async () => {
  const { storage, asked } = keeping({ bytes: 3 * GB, limit_gigabytes: 10, since: null, thinned: 2 });
  render(StoragePage, { t: en, storage });
  await userEvent.click(await screen.findByText('1 GB'));
  await userEvent.click(screen.getByRole('button', { name: en.storage.now }));
  expect(asked).toEqual(['storage', 'limit 1', 'thin_now']);
  expect(await screen.findByText('3 turns were thinned, 2 GB are free.')).toBeVisible();
  expect(screen.getByText('5 older turns can’t be undone any more')).toBeVisible();
});

it('says what was left because sessions are at work, and never that nothing had to go then', async () => {
  const kept = { bytes: 3 * GB, limit_gigabytes: 1, since: null, thinned: 0 };
  const table: [{ turns: number; left: number }, string][] = [
    [{ turns: 0, left: 0 }, en.storage.nothing],
    [
      { turns: 0, left: 2 },
      'Nothing was thinned, since 2 sessions are at work. Try again when they are done.',
    ],
    [
      { turns: 1, left: 1 },
      '1 turn was thinned, 2 GB are free. 1 session is at work. What it keeps is left for the next time.',
    ],
  ];
  for (const [thinned, words] of table) {
    const { storage } = keeping(kept, thinned);
    const { unmount } = render(StoragePage, { t: en, storage });
    const thin = await screen.findByRole('button', { name: en.storage.now });
    await waitFor(() => expect(thin).toBeEnabled());
    await userEvent.click(thin);
    expect(await screen.findByText(words)).toBeVisible();
    unmount();
  }
});

it('says what goes on, takes no other click meanwhile, and what went is not said of a new limit', async () => {
  const { storage } = keeping({ bytes: 3 * GB, limit_gigabytes: 10, since: null, thinned: 0 });
  render(StoragePage, { t: en, storage });
  const limits = within(await screen.findByRole('group', { name: en.storage.limit })).getAllByRole('button');
  const thin = screen.getByRole('button', { name: en.storage.now });
  await waitFor(() => expect(thin).toBeEnabled());
  const set = storage.limit(5);
  await tick();
  for (const button of [...limits, thin]) expect(button).toBeDisabled();
  expect(thin).toHaveTextContent(en.storage.now);
  await set;
  const done = storage.thin();
  await tick();
  for (const button of [...limits, thin]) expect(button).toBeDisabled();
  expect(thin).toHaveTextContent(en.storage.thinning);
  await done;
  expect(await screen.findByText(/3 turns were thinned/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: '1 GB' }));
  expect(screen.queryByText(/turns were thinned/)).toBeNull();
  expect(screen.getByRole('button', { name: '1 GB' })).toBeEnabled();
});
