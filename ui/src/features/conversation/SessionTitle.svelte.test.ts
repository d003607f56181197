// A session is renamed in place; a name is never lost by looking at it.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { en } from '../../texts/en';
import SessionTitle from './SessionTitle.svelte';

function shown(title = 'Tidy the menu') {
  const onrename = vi.fn();
  render(SessionTitle, { t: en, name: title || 'New session', title, onrename });
  return onrename;
}
const begin = () => userEvent.click(screen.getByRole('button', { name: 'Rename…' }));

test('enter saves the new name and leaving the field does, too', async () => {
  const onrename = shown();
  await begin();
  await userEvent.keyboard('Menu for Maria{Enter}');
  expect(onrename).toHaveBeenLastCalledWith('Menu for Maria');
  expect(screen.getByRole('button', { name: 'Rename…' })).toHaveFocus();
  await begin();
  await userEvent.keyboard(' Another ');
  await userEvent.tab();
  expect(onrename).toHaveBeenLastCalledWith('Another');
});

test('escape, an empty name and the same name change nothing', async () => {
  const onrename = shown();
  await begin();
  await userEvent.keyboard('Other{Escape}');
  expect(screen.getByRole('heading', { name: 'Tidy the menu' })).toBeVisible();
  await begin();
  await userEvent.keyboard('{Backspace}{Enter}');
  await begin();
  await userEvent.keyboard('{Enter}');
  expect(onrename).not.toHaveBeenCalled();
});

test('a session that can only be read keeps its name', () => {
  render(SessionTitle, { t: en, name: 'Tidy the menu', title: 'Tidy the menu', onrename: null });
  expect(screen.queryByRole('button')).toBeNull();
});
