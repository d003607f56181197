// A short piece of news: who shows it hears whether somebody is at it, also when it goes.
import { fireEvent, render, screen } from '@testing-library/svelte';
import { createRawSnippet } from 'svelte';
import { expect, test, vi } from 'vitest';
import Toast from './Toast.svelte';

test('nobody is at what is gone', async () => {
  const onhold = vi.fn();
  const words = createRawSnippet(() => ({ render: () => '<span>Saved</span>' }));
  const props = { close: 'Close', icon: words, children: words, onhold, onclose: vi.fn() };
  const { unmount } = render(Toast, props);
  const toast = screen.getByRole('status').parentElement as HTMLElement;
  await fireEvent.pointerEnter(toast);
  expect(onhold).toHaveBeenLastCalledWith(true);
  unmount();
  expect(onhold).toHaveBeenLastCalledWith(false);
});
