// News over the page: each piece for its time, which waits while somebody is at it, and of two neither covers the other.
import { fireEvent, render, screen, within } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import App from '../App.svelte';
import { FakeBackend } from '../protocol/fake/fake';
import { sampleWorld } from '../protocol/fake/sample';
import { en } from '../texts/en';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function opened(): Promise<FakeBackend> {
  const fake = new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
  render(App, { backend: fake });
  await vi.waitFor(() => screen.getByRole('tab', { name: /Changes/ }));
  return fake;
}

const alerts = () =>
  screen
    .queryAllByRole('alert')
    .flatMap((alert) => (alert.closest('.toast') ? [alert.textContent.trim()] : []));
const refusal = (name: string) => en.welcome.notFolder(name);

async function drop(fake: FakeBackend, name: string): Promise<HTMLElement> {
  fake.announce({ kind: 'drop_refused', name });
  await tick();
  const toast = screen.getByText(refusal(name)).closest<HTMLElement>('.toast');
  if (!toast) throw new Error('it is news');
  return toast;
}

test('news waits while somebody is at it, and what comes after it has its own time', async () => {
  const fake = await opened();
  const toast = await drop(fake, 'one.txt');
  await fireEvent.pointerEnter(toast);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(alerts()).toEqual([refusal('one.txt')]);
  // It goes while the pointer is on it: the next one isn't held by that.
  await fireEvent.click(within(toast).getByRole('button', { name: en.app.close }));
  await drop(fake, 'two.txt');
  await vi.advanceTimersByTimeAsync(7_000);
  expect(alerts()).toEqual([refusal('two.txt')]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(alerts()).toEqual([]);
});

test('the same file dropped again is news again, with its own time', async () => {
  const fake = await opened();
  const first = await drop(fake, 'one.txt');
  await vi.advanceTimersByTimeAsync(7_000);
  // Another element is told by a screen reader; the old one, unchanged, wouldn't be.
  expect(await drop(fake, 'one.txt')).not.toBe(first);
  await vi.advanceTimersByTimeAsync(7_000);
  expect(alerts()).toEqual([refusal('one.txt')]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(alerts()).toEqual([]);
});

test('two pieces of news stand in one column', async () => {
  const fake = await opened();
  const refused = await drop(fake, 'one.txt');
  await fireEvent.click(screen.getByRole('button', { name: en.copies.import }));
  await vi.waitFor(() => expect(alerts()).toHaveLength(2));
  const [copy, other] = refused.parentElement?.children ?? [];
  expect(copy?.textContent).toContain('something in it was changed');
  expect(other).toBe(refused);
});
