// What who hears the page is told of a check: that it goes on and what came of it, not each count on the way.
import { render, screen } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { FakeBackend } from '../../protocol/fake/fake';
import { holding } from '../../protocol/fake/record';
import { sampleWorld } from '../../protocol/fake/sample';
import { Verifying } from '../../state/verifying.svelte';
import { en } from '../../texts/en';
import Seal from './Seal.svelte';

const words = en.record.seal;

test('counts on the way and events since aren’t told, what came of it is', () => {
  const fake = new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
  const verifying = new Verifying(fake, 'ses_done', () => 1e12);
  verifying.now = { ...holding(96), state: 'running', requests: 3, of: 9 };
  const shown = () => render(Seal, { t: en, verifying, total: 100, onshow: () => {} });
  const { unmount } = shown();
  expect(screen.getByText(words.runningRequests('3', '9'))).toBeVisible();
  expect(screen.getByRole('status').textContent.trim()).toBe(words.running);
  unmount();
  verifying.now = { ...holding(96), requests: 9, of: 9 };
  verifying.doneAt = 1e12;
  shown();
  expect(screen.getByText(words.since('4'))).toBeVisible();
  expect(screen.getByRole('status')).toHaveTextContent(/9 of 9 requests match/);
  expect(screen.getByRole('status')).not.toHaveTextContent(words.since('4'));
});
