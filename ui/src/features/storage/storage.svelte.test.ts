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

function keeping(value: StorageView) {
  const asked: string[] = [];
  const backend: Backend = {
    call(command) {
      asked.push(command.name === 'set_undo_limit' ? `limit ${command.args.gigabytes}` : command.name);
      if (command.name === 'set_undo_limit') value = { ...value, limit_gigabytes: command.args.gigabytes };
      if (command.name === 'thin_now') value = { ...value, bytes: GB, thinned: value.thinned + 3 };
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
