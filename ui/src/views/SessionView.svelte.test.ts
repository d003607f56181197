// The tabs beside a session, with the page around them.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import App from '../App.svelte';
import { FakeBackend } from '../protocol/fake/fake';
import { sampleWorld } from '../protocol/fake/sample';

test('before anything was said the changes are an answer, not a blank page', async () => {
  const fake = new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
  fake.world.summaries = fake.world.summaries.filter(({ id }) => id === 'ses_work');
  const view = fake.world.views.get('ses_work');
  if (!view) throw new Error('the sample has it');
  Object.assign(view, { entries: [], plan: null, activity: { kind: 'idle' }, waiting: [], changed_files: 0 });
  fake.world.files.clear();
  render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('tab', { name: /Changes/ }));
  expect(await screen.findByText('No changes yet')).toBeVisible();
});
