// The tabs beside a session, with the page around them.
import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import App from '../App.svelte';
import { FakeBackend } from '../protocol/fake/fake';
import { sampleWorld } from '../protocol/fake/sample';

/** The sample with this session alone. */
function only(session: string): FakeBackend {
  const fake = new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
  fake.world.summaries = fake.world.summaries.filter(({ id }) => id === session);
  return fake;
}

test('before anything was said the changes are an answer, not a blank page', async () => {
  const fake = only('ses_work');
  const view = fake.world.views.get('ses_work');
  if (!view) throw new Error('the sample has it');
  Object.assign(view, { entries: [], plan: null, activity: { kind: 'idle' }, waiting: [], changed_files: 0 });
  fake.world.files.clear();
  render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('tab', { name: /Changes/ }));
  expect(await screen.findByText('No changes yet')).toBeVisible();
});

test('a folder to look at is added by the dialog, shown as a chip, and taken back by it', async () => {
  const fake = only('ses_done');
  render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('button', { name: 'Folder: Lantern Bakery site' }));
  await userEvent.click(screen.getByRole('menuitem', { name: /Let Daybook look at another folder/ }));
  // No path leaves the page: the dialog is the system's.
  expect(fake.asked.at(-1)).toEqual({ name: 'choose_read_folder', args: { session: 'ses_done' } });
  expect(await screen.findByText('Also reads: Invoices 2025')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Stop reading Invoices 2025' }));
  await waitFor(() => expect(screen.queryByText('Also reads: Invoices 2025')).toBeNull());
});

test('a folder that isn’t there is marked and can be taken back', async () => {
  const fake = only('ses_done');
  const view = fake.world.views.get('ses_done');
  if (!view) throw new Error('the sample has it');
  view.added = [
    { id: 'fol_a', name: 'Stick', place: '/media/me/Stick', state: 'gone' },
    { id: 'fol_b', name: 'Scans', place: '~/Scans', state: 'other' },
  ];
  render(App, { backend: fake });
  expect(await screen.findByText('Not there now: Stick')).toBeVisible();
  expect(screen.getByText('Not the same folder any more: Scans')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Stop reading Stick' }));
  await waitFor(() => expect(screen.queryByText('Not there now: Stick')).toBeNull());
});
