// The composer of a session over the stand-in: what was erased from the record is gone from the words that wait here too.
import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { FakeBackend } from '../protocol/fake/fake';
import { sampleWorld } from '../protocol/fake/sample';
import { App, provideApp } from '../state/app.svelte';
import ComposerHost from './ComposerHost.svelte';

test('the next key brings no erased words back', async () => {
  const app = new App(
    new FakeBackend({
      ...sampleWorld('en', 1e12),
      script: () => undefined,
      pause: () => Promise.resolve(),
      now: () => 1e12,
    }),
    ['en'],
    localStorage,
  );
  app.openSession('ses_done');
  await waitFor(() => expect(app.live?.fold).toBeTruthy());
  const { live, erasing } = app;
  if (!live?.fold || !erasing) throw new Error('it is open');
  const Host: typeof ComposerHost = (internals, props) => {
    provideApp(app);
    return ComposerHost(internals, props);
  };
  render(Host, { live, fold: live.fold, onsent: () => {} });
  const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
  const said = live.fold.cells.find((cell) => cell.body.kind === 'said');
  if (said?.body.kind !== 'said') throw new Error('something was said');
  const before = field();
  await userEvent.type(before, `Again: ${said.body.text}`);
  await erasing.want(said.key);
  await erasing.everything(true);
  erasing.why = 'other';
  await erasing.confirm();
  expect(erasing.done).not.toBeNull();
  await waitFor(() => expect(field()).toHaveValue('Again: '));
  // A new field has no history that would bring them back.
  expect(field()).not.toBe(before);
  await userEvent.type(field(), 'x');
  expect(app.drafts.read('ses_done')).toBe('Again: x');
});
